SELECT v FROM bench.a WHERE id = 4711;
