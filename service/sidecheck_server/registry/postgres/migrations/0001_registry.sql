-- Texts that callers choose are bytes, in UTF-8: they may have null characters, which no text of
-- PostgreSQL has, and the encoding of the database does not matter. Their indexes are of hashes,
-- because they may be longer than an entry of an index.

CREATE TABLE sidecheck.meta (
    "row" integer PRIMARY KEY DEFAULT 1 CHECK ("row" = 1),
    epoch uuid NOT NULL,
    revision bigint NOT NULL CHECK (revision >= 0),
    change_id uuid NOT NULL,
    registry_created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE sidecheck.meta IS 'The one row that each write locks, so that the order of revisions is that of commits.';
COMMENT ON COLUMN sidecheck.meta.epoch IS 'Identity of the registry.';
COMMENT ON COLUMN sidecheck.meta.change_id IS 'Identity of the change that led to the revision.';

INSERT INTO sidecheck.meta (epoch, revision, change_id)
VALUES (gen_random_uuid(), 0, gen_random_uuid());

CREATE TABLE sidecheck.tool (
    server bytea NOT NULL,
    name bytea NOT NULL,
    revision bigint NOT NULL,
    until bigint CHECK (until > revision),
    digest text NOT NULL,
    json bytea NOT NULL,
    input_schema_digest text NOT NULL,
    output_schema_digest text,
    protocol_version text NOT NULL,
    document_uris bytea[] NOT NULL,
    documents bytea[] NOT NULL CHECK (cardinality(documents) = cardinality(document_uris))
);
COMMENT ON TABLE sidecheck.tool IS 'The bindings of names to definitions, those of the history too.';
COMMENT ON COLUMN sidecheck.tool.revision IS 'The revision that bound the name.';
COMMENT ON COLUMN sidecheck.tool.until IS 'The revision that bound it to another definition, or to none; null while it is bound.';

CREATE UNIQUE INDEX tool_bound ON sidecheck.tool (sha256(server), sha256(name)) WHERE until IS NULL;
CREATE INDEX tool_revision ON sidecheck.tool (revision);
CREATE INDEX tool_superseded ON sidecheck.tool (revision) WHERE until IS NOT NULL;

CREATE TABLE sidecheck.change (
    revision bigint PRIMARY KEY,
    id uuid NOT NULL,
    previous_id uuid NOT NULL,
    server bytea NOT NULL,
    unbound bytea[] NOT NULL,
    bytes bigint NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE sidecheck.change IS 'The history: what each revision changed, for as long as it is kept.';
COMMENT ON COLUMN sidecheck.change.previous_id IS 'Identity of the change before, by which replicas know that they saw it.';
COMMENT ON COLUMN sidecheck.change.bytes IS 'Size of the definitions that it bound.';
