-- Configs as this version has them: every setting is there, and the identities of runs and arms are hashes of that. store/upgrade.ts does
-- this for each migration whose name ends with `configs`. A new setting needs such a migration, and nothing else.
-- settings: 3499c7109fafb5a4

ALTER TABLE runs ADD COLUMN config_fault TEXT;  -- why the config does not fit this version, NULL where it does
CREATE INDEX runs_by_config ON runs (config_hash);
