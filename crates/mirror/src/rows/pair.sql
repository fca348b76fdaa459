-- What a node of a two-phase pair knows by itself: its part in the pair, which tables are mirrored, and what the mirror lacks.
-- It stands in every database, and may be run again.

SET client_min_messages = warning;
SELECT set_config('prony.adopting', 'on', false);

CREATE SCHEMA IF NOT EXISTS prony_pair;
GRANT USAGE ON SCHEMA prony_pair TO PUBLIC;

-- 1: changes are shipped; 2: they are noted; 3: this node is the mirror; 4: nothing is noted, since all is to be copied.
-- A sequence, because it is read as it is now, whatever a transaction's snapshot shows.
CREATE SEQUENCE IF NOT EXISTS prony_pair.mode MINVALUE 1 START 4;

-- The moment of its last change. What was told of sequences before it may be forgotten by a mirror that was copied since.
CREATE SEQUENCE IF NOT EXISTS prony_pair.turn;

-- What the mirror lacks: keys (k), whole rows of tables without a key (r), and tables that are copied whole (a).
CREATE TABLE IF NOT EXISTS prony_pair.changed (
    id bigserial PRIMARY KEY, relation text NOT NULL, kind "char" NOT NULL, item text NOT NULL, n bigint NOT NULL DEFAULT 1);
CREATE UNIQUE INDEX IF NOT EXISTS changed_item ON prony_pair.changed (relation, item) WHERE kind <> 'r';

-- Definitions that the mirror lacks, in their order.
CREATE TABLE IF NOT EXISTS prony_pair.defined (
    id bigserial PRIMARY KEY, said text NOT NULL, path text NOT NULL, role text NOT NULL, inside boolean NOT NULL);

-- What became of transactions that the other node may still have prepared.
CREATE TABLE IF NOT EXISTS prony_pair.verdict (gid text PRIMARY KEY, commits boolean NOT NULL);

-- Which tables are left out, by pattern and in this order, and which of these are mirrored all the same.
CREATE TABLE IF NOT EXISTS prony_pair.choice (pattern text PRIMARY KEY, reason text NOT NULL, mirrored boolean NOT NULL);

-- Mirrored tables: the columns of the key (none where rows are only added), and what finds, removes and puts rows.
CREATE TABLE IF NOT EXISTS prony_pair.mirrored (
    relation text PRIMARY KEY, oid oid NOT NULL, keyed boolean NOT NULL, found text, removed text, put text NOT NULL, made text NOT NULL);

-- Sequences of which no row of a mirrored table tells how far they came.
CREATE TABLE IF NOT EXISTS prony_pair.free (oid oid PRIMARY KEY);

-- Whether what changes here comes from the primary. Each statement there asks, and a function in SQL is read anew each time.
CREATE OR REPLACE FUNCTION prony_pair.applies() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $applies$
BEGIN
    IF current_setting('prony.applies', true) IS DISTINCT FROM 'on' THEN RETURN false; END IF;
    RETURN (SELECT last_value = 3 FROM prony_pair.mode);
END $applies$;

-- Begins to write: answers with the mode, which stays what it is until the transaction ends.
CREATE OR REPLACE FUNCTION prony_pair.enter(what text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
AS $enter$
DECLARE
    mode bigint;
    served boolean := coalesce(current_setting('prony.served', true), '') = 'on';
BEGIN
    IF current_setting('prony.applies', true) = 'on' AND prony_pair.applies() THEN RETURN 4; END IF;
    PERFORM pg_advisory_xact_lock_shared(7766, 1);
    SELECT last_value INTO mode FROM prony_pair.mode;
    IF mode = 3 AND served THEN
        RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'the nodes of the pair change their roles', HINT = 'try the transaction again';
    ELSIF mode = 3 THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = format('%s is mirrored, and this node is not the primary of the pair', what),
            HINT = 'write through `prony pair serve`';
    ELSIF mode = 1 AND NOT served THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = format('%s is mirrored in lock step, and this session would change one node alone', what),
            HINT = 'write through `prony pair serve`, or suspend the pair: prony pair suspend';
    END IF;
    RETURN mode;
END $enter$;

-- Takes down a definition when the mirror is away; answers with the mode.
CREATE OR REPLACE FUNCTION prony_pair.note(said text, path text, role text, inside boolean) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $note$
DECLARE
    mode bigint := prony_pair.enter('the definition');
BEGIN
    IF mode = 2 THEN
        INSERT INTO prony_pair.defined (said, path, role, inside) VALUES (said, path, role, inside);
    END IF;
    RETURN mode;
END $note$;

-- Writes down that a transaction was undone, before it is.
CREATE OR REPLACE FUNCTION prony_pair.undone(gid text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
AS $undone$ INSERT INTO prony_pair.verdict VALUES (gid, false) ON CONFLICT DO NOTHING $undone$;

-- Ends a transaction with a reason.
CREATE OR REPLACE FUNCTION prony_pair.refuse(why text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog
AS $refuse$ BEGIN RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = why; END $refuse$;

-- Marks a table to be copied whole.
CREATE OR REPLACE FUNCTION prony_pair.whole(which text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $whole$
    INSERT INTO prony_pair.changed AS c (relation, kind, item) SELECT relation, 'a', '' FROM prony_pair.mirrored WHERE relation = which
    ON CONFLICT (relation, item) WHERE kind <> 'r' DO UPDATE SET n = c.n + 1 $whole$;

-- Rows of a table by their keys, as a text that every node reads alike.
CREATE OR REPLACE FUNCTION prony_pair.fetched(which text, keys text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET extra_float_digits = 3 SET bytea_output = 'hex' SET timezone = 'UTC'
SET lc_monetary = 'C' SET xmlbinary = 'base64' AS $fetched$
DECLARE
    sql text;
    rows text;
BEGIN
    SELECT m.found INTO sql FROM prony_pair.mirrored m WHERE m.relation = which;
    EXECUTE sql INTO rows USING keys;
    RETURN rows;
END $fetched$;

-- Keys of which the mirror lacks the rows, by table, of one part of so many; and takes them off, where nobody changed the rows since.
CREATE OR REPLACE FUNCTION prony_pair.batch(part int, parts int, most int)
RETURNS TABLE (relation text, removed text, put text, items text, ns text, count bigint) LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $batch$
    SELECT m.relation, m.removed, m.put, array_agg(c.item)::text, array_agg(c.n)::text, count(*)
    FROM (SELECT c.relation, c.item, c.n FROM prony_pair.changed c WHERE c.kind = 'k' AND mod(abs(hashtext(c.item)::bigint), parts) = part
        ORDER BY c.relation, c.item LIMIT most) c JOIN prony_pair.mirrored m ON m.relation = c.relation GROUP BY 1, 2, 3 $batch$;

CREATE OR REPLACE FUNCTION prony_pair.sent(which text, items text, ns text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
AS $sent$
    DELETE FROM prony_pair.changed WHERE id IN (SELECT c.id FROM prony_pair.changed c JOIN unnest(items::text[], ns::bigint[]) k(item, n)
        ON c.relation = which AND c.item = k.item AND c.n = k.n AND c.kind = 'k' FOR UPDATE OF c SKIP LOCKED) $sent$;

-- The same of rows without a key, and of tables that are copied whole, with the rows of theirs that are noted up to now.
CREATE OR REPLACE FUNCTION prony_pair.added(most int) RETURNS TABLE (put text, ids text, rows text, count bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $added$
    SELECT m.put, array_agg(c.id)::text, array_agg(c.item)::text, count(*)
    FROM (SELECT * FROM prony_pair.changed WHERE kind = 'r' ORDER BY id LIMIT most) c JOIN prony_pair.mirrored m ON m.relation = c.relation GROUP BY 1 $added$;

CREATE OR REPLACE FUNCTION prony_pair.gone(ids text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
AS $gone$ DELETE FROM prony_pair.changed WHERE id = ANY (ids::bigint[]) $gone$;

CREATE OR REPLACE FUNCTION prony_pair.marked() RETURNS TABLE (relation text, put text) LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
AS $marked$ SELECT m.relation, m.put FROM prony_pair.changed c JOIN prony_pair.mirrored m ON m.relation = c.relation WHERE c.kind = 'a' $marked$;

CREATE OR REPLACE FUNCTION prony_pair.unmarked(which text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
AS $unmarked$ DELETE FROM prony_pair.changed WHERE relation = which AND kind IN ('a', 'r') $unmarked$;

-- All rows of a table in pieces.
CREATE OR REPLACE FUNCTION prony_pair.pieces(which text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET extra_float_digits = 3 SET bytea_output = 'hex' SET timezone = 'UTC'
SET lc_monetary = 'C' SET xmlbinary = 'base64' AS $pieces$
DECLARE
    made text;
BEGIN
    SELECT m.made INTO made FROM prony_pair.mirrored m WHERE relation = which;
    RETURN QUERY EXECUTE format('SELECT array_agg(r)::text FROM (SELECT %s AS r, (row_number() OVER () - 1) / 1000 AS p FROM %s n) x GROUP BY p', made, which);
END $pieces$;

-- All tables of users, and why one is not mirrored.
CREATE OR REPLACE VIEW prony_pair.tables AS
SELECT c.oid, format('%I.%I', s.nspname, c.relname) AS relation,
    CASE
        WHEN c.relpersistence = 'u' THEN 'it is unlogged, so that a crash empties it'
        WHEN c.relkind = 'r' AND NOT c.relispartition AND EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
            THEN 'it inherits from a table, or a table from it'
        WHEN EXISTS (SELECT 1 FROM prony_pair.choice WHERE mirrored AND pattern = format('%s.%s', s.nspname, c.relname)) THEN NULL
        ELSE (SELECT reason FROM prony_pair.choice WHERE NOT mirrored
            AND format('%s.%s', s.nspname, c.relname) LIKE replace(replace(pattern, '_', '\_'), '*', '%') ORDER BY pattern LIMIT 1)
    END AS why_not
FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND s.nspname NOT IN ('information_schema', 'prony_pair') AND s.nspname NOT LIKE 'pg\_%';

-- Tables whose rows the other node does not have from here, why, and whether there are any. One that is locked may have some.
CREATE OR REPLACE FUNCTION prony_pair.left_out() RETURNS TABLE (relation text, why text, has_rows boolean) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog SET lock_timeout = '200ms' AS $left$
BEGIN
    FOR relation, why IN SELECT t.relation, t.why_not FROM prony_pair.tables t WHERE t.why_not IS NOT NULL ORDER BY 1 LOOP
        BEGIN
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM ONLY %s)', relation) INTO has_rows;
        EXCEPTION WHEN lock_not_available OR undefined_table THEN
            has_rows := true;
        END;
        RETURN NEXT;
    END LOOP;
    RETURN QUERY SELECT format('%I.%I', schemaname, matviewname), 'it is a materialized view, which each node fills by itself', false
        FROM pg_matviews WHERE schemaname NOT LIKE 'pg\_%' ORDER BY 1;
END $left$;

-- Columns of a table that its key is made of, each with how two values of it are compared.
CREATE OR REPLACE VIEW prony_pair.keys AS
SELECT DISTINCT ON (i.indrelid, a.attnum) i.indrelid AS oid, i.indexrelid, i.indimmediate, k.at, quote_ident(a.attname) AS name, a.attnum, a.attidentity,
    format_type(a.atttypid, a.atttypmod) AS type, format('OPERATOR(%I.=)', opn.nspname) AS equals
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY k(attnum, class, at)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
JOIN pg_opclass oc ON oc.oid = k.class
JOIN pg_amop ao ON ao.amopfamily = oc.opcfamily AND ao.amopstrategy = 3 AND ao.amoplefttype = oc.opcintype AND ao.amoprighttype = oc.opcintype
JOIN pg_operator op ON op.oid = ao.amopopr JOIN pg_namespace opn ON opn.oid = op.oprnamespace
WHERE i.indisvalid AND k.at <= i.indnkeyatts
    AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END
ORDER BY i.indrelid, a.attnum;

-- What is asked of a table: one row for each with its texts and the body of its trigger.
CREATE OR REPLACE FUNCTION prony_pair.plan(t prony_pair.tables, OUT m prony_pair.mirrored, OUT body text) LANGUAGE plpgsql STABLE
SET search_path = pg_catalog AS $plan$
DECLARE
    taken text;
    puts text;
    selects text;
    sets text;
    item text;
    match text;
    keys text;
    simple boolean;
BEGIN
    SELECT string_agg('n.' || quote_ident(attname), ', ' ORDER BY attnum),
        string_agg(quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE attgenerated = ''),
        string_agg('n.' || quote_ident(attname), ', ' ORDER BY attnum) FILTER (WHERE attgenerated = ''),
        string_agg(format('%I = excluded.%I', attname, attname), ', ' ORDER BY attnum)
            FILTER (WHERE attgenerated = '' AND attnum NOT IN (SELECT k.attnum FROM prony_pair.keys k WHERE k.oid = t.oid)),
        bool_and(attidentity <> 'a' OR attnum IN (SELECT k.attnum FROM prony_pair.keys k WHERE k.oid = t.oid))
    INTO taken, puts, selects, sets, simple
    FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped;
    SELECT string_agg(k.name, ', ' ORDER BY at), 
        -- Keys that are equal are not the same for that: a collation may say so.
        format('ARRAY[%s]::text COLLATE "C"', string_agg(format('n.%s::text', k.name), ', ' ORDER BY at)),
        string_agg(format('n.%s %s ((k.k::text[])[%s])::%s', k.name, k.equals, at, k.type), ' AND ' ORDER BY at),
        -- Only one unique index, which is the key: then one statement puts a row, whether it is there or not.
        simple AND bool_and(indimmediate) AND (SELECT count(*) = 1 FROM pg_index i WHERE i.indrelid = t.oid AND (i.indisunique OR i.indisexclusion))
    INTO keys, item, match, simple
    FROM prony_pair.keys k WHERE k.oid = t.oid HAVING count(*) > 0;
    m.relation := t.relation;
    m.oid := t.oid;
    m.keyed := keys IS NOT NULL;
    m.made := format('ROW(%s)::%s', coalesce(taken, ''), t.relation);
    m.put := CASE WHEN puts IS NULL THEN format('INSERT INTO %s SELECT FROM unnest($1::%s[]) n', t.relation, t.relation)
        ELSE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM unnest($1::%s[]) n', t.relation, puts, selects, t.relation) END;
    IF m.keyed THEN
        m.found := format('SELECT array_agg(%s)::text FROM (SELECT DISTINCT ON (n.tableoid, n.ctid) n.* FROM %s n, unnest($1::text[]) k(k) WHERE %s) n',
            m.made, t.relation, match);
        m.removed := format('DELETE FROM %s n USING unnest($1::text[]) k(k) WHERE %s', t.relation, match);
    END IF;
    body := format($body$
DECLARE
    mode bigint := prony_pair.enter(%1$L);
    said text;
    piece text;
BEGIN
    IF mode = 4 THEN RETURN NULL; END IF;
    IF mode = 1 THEN
        GET DIAGNOSTICS said = PG_CONTEXT;
        -- Called from a function or a trigger: what is told now may be undone by its caller, what is noted goes with it.
        IF position(chr(10) IN said) > 0 THEN
            mode := 2;
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = 'noted';
        END IF;
    END IF;
$body$, t.relation);
    -- Rows travel in pieces of 1000.
    body := body || format($body$
    IF TG_OP = 'TRUNCATE' THEN
        IF mode = 1 THEN
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = %2$L;
        ELSE
            DELETE FROM prony_pair.changed WHERE relation = %1$L;
            PERFORM prony_pair.whole(%1$L);
        END IF;
        RETURN NULL;
    END IF;
$body$, t.relation, format('TRUNCATE %s CASCADE', t.relation));
    IF m.keyed THEN
        body := body || format($body$
    IF mode = 2 AND TG_OP = 'INSERT' THEN
        INSERT INTO prony_pair.changed AS c (relation, kind, item) SELECT %1$L, 'k', %2$s FROM prony_new n
        ON CONFLICT (relation, item) WHERE kind <> 'r' DO UPDATE SET n = c.n + 1;
    ELSIF mode = 2 AND TG_OP = 'DELETE' THEN
        INSERT INTO prony_pair.changed AS c (relation, kind, item) SELECT %1$L, 'k', %2$s FROM prony_old n
        ON CONFLICT (relation, item) WHERE kind <> 'r' DO UPDATE SET n = c.n + 1;
    ELSIF mode = 2 THEN
        INSERT INTO prony_pair.changed AS c (relation, kind, item)
        SELECT %1$L, 'k', item FROM (SELECT %2$s FROM prony_new n UNION SELECT %2$s FROM prony_old n) x(item)
        ON CONFLICT (relation, item) WHERE kind <> 'r' DO UPDATE SET n = c.n + 1;
    ELSIF TG_OP = 'DELETE' THEN
        FOR piece IN SELECT array_agg(r)::text FROM (SELECT %2$s AS r, (row_number() OVER () - 1) / 1000 AS p FROM prony_old n) x GROUP BY p LOOP
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = %3$L, DETAIL = piece;
        END LOOP;
    ELSIF TG_OP = 'UPDATE' THEN
        FOR piece IN SELECT array_agg(r)::text FROM (SELECT r, (row_number() OVER () - 1) / 1000 AS p
            FROM (SELECT %2$s AS r FROM prony_old n %4$s) y) x GROUP BY p LOOP
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = %3$L, DETAIL = piece;
        END LOOP;
        FOR piece IN SELECT array_agg(r)::text FROM (SELECT %5$s AS r, (row_number() OVER () - 1) / 1000 AS p FROM prony_new n) x GROUP BY p LOOP
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = %6$L, DETAIL = piece;
        END LOOP;
$body$, t.relation, item, m.removed,
            CASE WHEN simple THEN format('EXCEPT SELECT %s FROM prony_new n', item) ELSE '' END, m.made,
            CASE WHEN simple THEN format('%s ON CONFLICT (%s) DO %s', m.put, keys, coalesce('UPDATE SET ' || sets, 'NOTHING')) ELSE m.put END);
    ELSE
        body := body || format($body$
    IF TG_OP <> 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM prony_old) THEN
            RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('cannot %%s %%s: it has no primary key and no REPLICA IDENTITY USING INDEX, so that the rows cannot be told to the mirror', lower(TG_OP), %1$L),
                HINT = 'give it one of both, or leave it out: prony pair up --leave-out';
        END IF;
        RETURN NULL;
    END IF;
    IF mode = 2 THEN
        INSERT INTO prony_pair.changed (relation, kind, item) SELECT %1$L, 'r', (%2$s)::text FROM prony_new n;
$body$, t.relation, m.made);
    END IF;
    body := body || format($body$
    ELSE
        FOR piece IN SELECT array_agg(r)::text FROM (SELECT %1$s AS r, (row_number() OVER () - 1) / 1000 AS p FROM prony_new n) x GROUP BY p LOOP
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = %2$L, DETAIL = piece;
        END LOOP;
    END IF;
    RETURN NULL;
END
$body$, m.made, m.put);
END $plan$;

-- Sequences that belong to a column of whole numbers: its rows tell how far each came.
CREATE OR REPLACE VIEW prony_pair.owned AS
SELECT q.seqrelid AS oid, q.seqincrement, q.seqmin, q.seqmax, d.refobjid::regclass AS relation, quote_ident(a.attname) AS name
FROM pg_depend d JOIN pg_sequence q ON q.seqrelid = d.objid JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
JOIN prony_pair.mirrored m ON m.oid = d.refobjid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype);

-- The number that a sequence stands at, and whether it gave that one to somebody.
CREATE OR REPLACE FUNCTION prony_pair.stands(which regclass, OUT last bigint, OUT given boolean) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $stands$ BEGIN EXECUTE format('SELECT last_value, is_called FROM %s', which) INTO last, given; END $stands$;

-- How far the other node is told that a sequence comes: 32 numbers ahead, as PostgreSQL writes it into its own log. Near its end and where it
-- begins again there it is told exactly, so that none of the last numbers is lost. And by what a session knows again that this was told.
CREATE OR REPLACE FUNCTION prony_pair.ahead(which regclass, OUT said text[], OUT known text) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $ahead$
DECLARE
    q pg_sequence;
    last numeric;
    far numeric;
BEGIN
    SELECT * INTO q FROM pg_sequence WHERE seqrelid = which;
    SELECT CASE WHEN s.given THEN s.last ELSE s.last::numeric - q.seqincrement END INTO last FROM prony_pair.stands(which) s;
    IF last NOT BETWEEN q.seqmin AND q.seqmax THEN RETURN; END IF;
    far := last + 32 * q.seqincrement::numeric;
    IF q.seqcycle OR far NOT BETWEEN q.seqmin AND q.seqmax THEN far := last; END IF;
    said := ARRAY[which::text, far::text];
    -- One that begins again comes back to numbers that were told long ago.
    known := CASE WHEN q.seqcycle THEN '' ELSE
        format('%s.%s.%s %s %s', (SELECT last_value FROM prony_pair.turn), which::oid, pg_relation_filenode(which), last, far) END;
END $ahead$;

-- Hears how far a sequence comes: it gives no number up to that one any more. Several may tell of one at once, and the furthest counts; of one
-- that begins again, what is less than half a round ahead is further.
CREATE OR REPLACE FUNCTION prony_pair.hear(said text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $hear$
DECLARE
    q pg_sequence;
    further numeric;
BEGIN
    SELECT * INTO q FROM pg_sequence WHERE seqrelid = said[1]::regclass;
    PERFORM pg_advisory_lock(7767, 1);
    BEGIN
        SELECT (said[2]::numeric - CASE WHEN s.given THEN s.last ELSE s.last::numeric - q.seqincrement END) * sign(q.seqincrement::numeric)
        INTO further FROM prony_pair.stands(q.seqrelid) s;
        IF q.seqcycle THEN
            further := mod(further + q.seqmax - q.seqmin + 1, q.seqmax::numeric - q.seqmin + 1);
            further := CASE WHEN 2 * further <= q.seqmax::numeric - q.seqmin + 1 THEN further ELSE 0 END;
        END IF;
        IF further > 0 THEN PERFORM setval(q.seqrelid, said[2]::numeric::bigint); END IF;
    EXCEPTION WHEN OTHERS THEN
        PERFORM pg_advisory_unlock(7767, 1);
        RAISE;
    END;
    PERFORM pg_advisory_unlock(7767, 1);
END $hear$;

-- Tells how far the sequences come that this transaction used and no column owns: it holds a lock on each.
CREATE OR REPLACE FUNCTION prony_pair.tell_sequences() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $sequences$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT a.* FROM prony_pair.free f JOIN pg_locks l ON l.relation = f.oid CROSS JOIN LATERAL prony_pair.ahead(f.oid) a
        WHERE l.locktype = 'relation' AND l.pid = pg_backend_pid() AND l.mode = 'RowExclusiveLock' AND a.said IS NOT NULL ORDER BY f.oid LOOP
        EXIT WHEN prony_pair.enter('a sequence') <> 1;
        RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = 'sequence', DETAIL = one.said::text, HINT = one.known;
    END LOOP;
END $sequences$;

-- Gives every mirrored table its triggers, and takes them from those that are left out.
CREATE OR REPLACE FUNCTION prony_pair.adopt() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $adopt$
DECLARE
    one prony_pair.tables;
    made record;
    name text;
    kind text;
    before text := coalesce(current_setting('prony.adopting', true), '');
BEGIN
    PERFORM set_config('prony.adopting', 'on', true);
    FOR one IN SELECT * FROM prony_pair.tables LOOP
        name := 'on_' || one.oid;
        IF one.why_not IS NOT NULL THEN
            DELETE FROM prony_pair.mirrored WHERE oid = one.oid;
            IF to_regproc('prony_pair.' || name) IS NOT NULL THEN
                EXECUTE format('DROP FUNCTION prony_pair.%I() CASCADE', name);
            END IF;
            CONTINUE;
        END IF;
        made := prony_pair.plan(one);
        CONTINUE WHEN made.body = (SELECT prosrc FROM pg_proc WHERE oid = to_regproc('prony_pair.' || name))
            AND 4 = (SELECT count(*) FROM pg_trigger WHERE tgrelid = one.oid AND tgname LIKE 'prony\_%' AND tgenabled = 'A');
        DELETE FROM prony_pair.mirrored m WHERE m.oid = one.oid OR m.relation = one.relation;
        INSERT INTO prony_pair.mirrored SELECT (made.m).*;
        EXECUTE format('CREATE OR REPLACE FUNCTION prony_pair.%I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
            SET datestyle = ''ISO, YMD'' SET intervalstyle = ''postgres'' SET extra_float_digits = 3 SET bytea_output = ''hex''
            SET timezone = ''UTC'' SET lc_monetary = ''C'' SET xmlbinary = ''base64'' AS %L', name, made.body);
        FOREACH kind IN ARRAY ARRAY['insert', 'update', 'delete', 'truncate'] LOOP
            -- What comes from the primary has nothing to tell, and needs no settings to tell it in.
            EXECUTE format('CREATE OR REPLACE TRIGGER prony_%s AFTER %s ON %s %s FOR EACH STATEMENT
                WHEN (current_setting(''prony.applies'', true) IS DISTINCT FROM ''on'' OR NOT prony_pair.applies()) EXECUTE FUNCTION prony_pair.%I()', kind, kind, one.relation,
                CASE kind WHEN 'insert' THEN 'REFERENCING NEW TABLE AS prony_new' WHEN 'delete' THEN 'REFERENCING OLD TABLE AS prony_old'
                    WHEN 'update' THEN 'REFERENCING OLD TABLE AS prony_old NEW TABLE AS prony_new' ELSE '' END, name);
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER prony_%s', one.relation, kind);
        END LOOP;
    END LOOP;
    FOR name IN SELECT proname FROM pg_proc WHERE pronamespace = 'prony_pair'::regnamespace AND proname ~ '^on_\d+$'
        AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = substr(proname, 4)::oid) LOOP
        EXECUTE format('DROP FUNCTION prony_pair.%I() CASCADE', name);
    END LOOP;
    DELETE FROM prony_pair.mirrored m WHERE NOT EXISTS (SELECT 1 FROM prony_pair.tables t WHERE t.oid = m.oid AND t.relation = m.relation AND t.why_not IS NULL);
    DELETE FROM prony_pair.changed c WHERE NOT EXISTS (SELECT 1 FROM prony_pair.mirrored m WHERE m.relation = c.relation);
    DELETE FROM prony_pair.free f WHERE EXISTS (SELECT 1 FROM prony_pair.owned o WHERE o.oid = f.oid)
        OR NOT EXISTS (SELECT 1 FROM pg_sequence q WHERE q.seqrelid = f.oid);
    INSERT INTO prony_pair.free SELECT c.oid FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE c.relkind = 'S' AND c.relpersistence = 'p' AND s.nspname <> 'prony_pair' AND s.nspname NOT LIKE 'pg\_%'
        AND NOT EXISTS (SELECT 1 FROM prony_pair.owned o WHERE o.oid = c.oid) ON CONFLICT DO NOTHING;
    PERFORM set_config('prony.adopting', before, true);
END $adopt$;

-- Definitions go through whoever serves, who is told of them.
CREATE OR REPLACE FUNCTION prony_pair.defines() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $defines$
DECLARE
    mode bigint;
    made text;
    ends text;
BEGIN
    IF coalesce(current_setting('prony.adopting', true), '') = 'on' OR prony_pair.applies() THEN RETURN; END IF;
    IF TG_EVENT = 'sql_drop' THEN
        IF NOT EXISTS (SELECT 1 FROM pg_event_trigger_dropped_objects() WHERE NOT is_temporary) THEN RETURN; END IF;
    ELSIF TG_EVENT = 'ddl_command_end' THEN
        IF NOT EXISTS (SELECT 1 FROM pg_event_trigger_ddl_commands() WHERE schema_name IS DISTINCT FROM 'pg_temp') THEN RETURN; END IF;
    ELSIF (SELECT relpersistence FROM pg_class WHERE oid = pg_event_trigger_table_rewrite_oid()) = 't' THEN RETURN;
    END IF;
    mode := prony_pair.enter('what is defined');
    IF coalesce(current_setting('prony.served', true), '') <> 'on' AND mode <> 4 THEN
        RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = 'tables of a pair are defined on both nodes in order, and this session would define them on one',
            HINT = 'define through `prony pair serve`';
    END IF;
    IF TG_EVENT = 'table_rewrite' THEN
        made := (SELECT relation FROM prony_pair.tables WHERE oid = pg_event_trigger_table_rewrite_oid());
    ELSE
        SELECT format('%s is mirrored, and this would end that: %s', t.relation, t.why_not) INTO ends
        FROM prony_pair.mirrored m JOIN prony_pair.tables t ON t.oid = m.oid WHERE t.why_not IS NOT NULL ORDER BY 1 LIMIT 1;
        IF ends IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'a pair cannot keep this in lock step: ' || ends,
                HINT = 'leave the table out first: prony pair up --leave-out';
        END IF;
        PERFORM prony_pair.adopt();
    END IF;
    IF TG_EVENT = 'ddl_command_end' THEN
        made := (SELECT min(t.relation) FROM pg_event_trigger_ddl_commands() d JOIN prony_pair.tables t ON t.oid = d.objid
            WHERE d.command_tag IN ('CREATE TABLE AS', 'SELECT INTO'));
    END IF;
    IF made IS NOT NULL AND mode <> 4 THEN
        -- Values that were made for it now are not the same elsewhere.
        PERFORM prony_pair.whole(made);
        IF mode = 1 THEN
            RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = 'noted';
        END IF;
    END IF;
    RAISE INFO USING ERRCODE = 'PR0NY', MESSAGE = 'defined';
END $defines$;

DROP EVENT TRIGGER IF EXISTS prony_defined;
DROP EVENT TRIGGER IF EXISTS prony_dropped;
DROP EVENT TRIGGER IF EXISTS prony_rewritten;
CREATE EVENT TRIGGER prony_defined ON ddl_command_end EXECUTE FUNCTION prony_pair.defines();
CREATE EVENT TRIGGER prony_dropped ON sql_drop EXECUTE FUNCTION prony_pair.defines();
CREATE EVENT TRIGGER prony_rewritten ON table_rewrite EXECUTE FUNCTION prony_pair.defines();
ALTER EVENT TRIGGER prony_defined ENABLE ALWAYS;
ALTER EVENT TRIGGER prony_dropped ENABLE ALWAYS;
ALTER EVENT TRIGGER prony_rewritten ENABLE ALWAYS;

-- Refuses a transaction of which something may not have been told: asked for in the same breath as its commit.
CREATE OR REPLACE FUNCTION prony_pair.whole_told() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $told$
DECLARE
    why text;
    off text;
    mends text := 'take it back for this session, this role and this database';
BEGIN
    IF EXISTS (SELECT 1 FROM prony_pair.free) THEN PERFORM prony_pair.tell_sequences(); END IF;
    IF pg_current_xact_id_if_assigned() IS NULL THEN RETURN; END IF;
    IF current_setting('session_replication_role') = 'replica' THEN
        why := 'session_replication_role = replica, by which triggers and foreign keys do not see what changes';
    ELSIF coalesce(current_setting('prony.adopting', true), '') = 'on' THEN
        why := 'prony.adopting = on, by which definitions are not told to the other node';
    ELSIF 3 > (SELECT count(*) FROM pg_event_trigger WHERE evtname IN ('prony_defined', 'prony_dropped', 'prony_rewritten') AND evtenabled = 'A') THEN
        why := 'an event trigger of the pair is switched off, so that definitions are not told to the other node';
        mends := 'ALTER EVENT TRIGGER prony_defined ENABLE ALWAYS; the same of prony_dropped and prony_rewritten';
    ELSIF (SELECT count(*) FROM pg_trigger WHERE tgenabled = 'A' AND tgname IN ('prony_insert', 'prony_update', 'prony_delete', 'prony_truncate'))
        < (SELECT 4 * count(*) FROM prony_pair.mirrored) THEN
        SELECT min(m.relation) INTO off FROM prony_pair.mirrored m
        WHERE 4 > (SELECT count(*) FROM pg_trigger g WHERE g.tgrelid = m.oid AND g.tgname LIKE 'prony\_%' AND g.tgenabled = 'A');
        why := 'a trigger of the pair is switched off on ' || off || ', so that what changes there is not told to the other node';
        mends := 'give it back: ALTER TABLE ' || off || ' ENABLE ALWAYS TRIGGER prony_insert';
    END IF;
    IF why IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'a pair cannot keep this in lock step: ' || why,
            HINT = mends;
    END IF;
END $told$;

-- Sets sequences beyond what the columns that they belong to hold.
CREATE OR REPLACE FUNCTION prony_pair.lift() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $lift$
DECLARE
    s record;
    most numeric;
BEGIN
    FOR s IN SELECT * FROM prony_pair.owned LOOP
        EXECUTE format('SELECT %s(%s) FROM %s WHERE %s BETWEEN %s AND %s', CASE WHEN s.seqincrement > 0 THEN 'max' ELSE 'min' END,
            s.name, s.relation, s.name, s.seqmin, s.seqmax) INTO most;
        IF most IS NOT NULL THEN PERFORM prony_pair.hear(ARRAY[s.oid::regclass::text, most::text]); END IF;
    END LOOP;
END $lift$;

SELECT prony_pair.adopt();
SELECT set_config('prony.adopting', '', false);
