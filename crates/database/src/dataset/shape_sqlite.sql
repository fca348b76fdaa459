-- What a data set of SQLite is made of, in words.

SELECT 'table ' || name FROM sqlite_schema WHERE type = 'table';

SELECT 'column ' || m.name || '.' || p.name || ' (' ||
    CASE p.type WHEN 'INTEGER' THEN 'int' WHEN 'TEXT' THEN 'text' ELSE p.type END ||
    CASE p."notnull" WHEN 1 THEN ' not null)' ELSE ')' END FROM sqlite_schema m JOIN pragma_table_info(m.name) p
    WHERE m.type = 'table';

-- The key of a table of whole numbers is the table itself, and no index. An expression has no name.
SELECT CASE l."unique" WHEN 1 THEN 'unique index ' ELSE 'index ' END || m.name || '(' ||
    (SELECT group_concat(coalesce(name, '?') || CASE upper(coll) WHEN 'BINARY' THEN '' ELSE ' collate ' || coll END ||
    CASE "desc" WHEN 1 THEN ' desc' ELSE '' END) FROM (SELECT * FROM pragma_index_xinfo(l.name)
    WHERE "key" = 1 ORDER BY seqno)) || ')' || CASE l.partial WHEN 1 THEN ' of some rows' ELSE '' END
    FROM sqlite_schema m JOIN pragma_index_list(m.name) l WHERE m.type = 'table' AND l.origin <> 'pk'
    UNION SELECT 'key ' || m.name || '(' ||
    (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(m.name) WHERE pk > 0 ORDER BY pk))
    || ')' FROM sqlite_schema m WHERE m.type = 'table';

SELECT 'reference ' || own || '(' || group_concat("from") || ') to ' || "table" ||
    CASE on_delete WHEN 'NO ACTION' THEN '' ELSE ' on delete ' || lower(on_delete) END ||
    CASE on_update WHEN 'NO ACTION' THEN '' ELSE ' on update ' || lower(on_update) END
    FROM (SELECT m.name AS own, f.* FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq) GROUP BY own, id;

-- No catalogue lists them; names of ours stand in quotes.
SELECT 'check ' || name || ' in its definition' FROM sqlite_schema WHERE type = 'table'
    AND upper(sql) GLOB '*[^A-Z0-9_"]CHECK[^A-Z0-9_"]*';
