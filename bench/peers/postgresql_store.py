"""Gives the PostgreSQL peers, which have no join, the pages done of each run and what its join saw."""

from bench.peers import servers

JOIN_CHANNEL = "bench_joined"

# All tables are WAL-logged. A page counts once however often it is delivered, as in Celery's chord; the
# run's row serialises the counting, so exactly one page finds itself the last.
SCHEMA = f"""
CREATE TABLE bench_run (run text PRIMARY KEY, pages int NOT NULL, done int NOT NULL DEFAULT 0)
    WITH (fillfactor = 10);
CREATE TABLE bench_result (run text, page int, PRIMARY KEY (run, page));
CREATE TABLE bench_join (run text, results int, distinct_pages int);

CREATE FUNCTION bench_page_done(text, int) RETURNS boolean LANGUAGE sql AS $$
    WITH added AS (
        INSERT INTO bench_result VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1
    )
    UPDATE bench_run SET done = done + (SELECT count(*) FROM added)
    WHERE run = $1 RETURNING done = pages AND EXISTS (SELECT FROM added)
$$;

CREATE FUNCTION bench_joined(text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO bench_join SELECT $1, count(*), count(DISTINCT page) FROM bench_result WHERE run = $1;
    SELECT pg_notify('{JOIN_CHANNEL}', $1);
$$;
"""


def joins(database: str, run: str) -> int:
    return int(servers.query(database, f"SELECT count(*) FROM bench_join WHERE run = '{run}'"))
