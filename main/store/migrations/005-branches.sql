-- A run may start from a checkpoint of another one. Its config says from which (`branch`); these columns are read from there, so that
-- the children of a run are found without reading every config. A config that is not JSON (a damaged row) has no origin.

ALTER TABLE runs ADD COLUMN origin_uid TEXT GENERATED ALWAYS AS
  (CASE WHEN json_valid(config) THEN CAST(config ->> '$.branch.run' AS TEXT) END) VIRTUAL;
ALTER TABLE runs ADD COLUMN origin_update INTEGER GENERATED ALWAYS AS
  (CASE WHEN json_valid(config) THEN CAST(config ->> '$.branch.update' AS INTEGER) END) VIRTUAL;
CREATE INDEX runs_by_origin ON runs (origin_uid) WHERE origin_uid IS NOT NULL;
