-- Configs as this version has them: every setting is there, and the identities of runs and arms are hashes of that. store/upgrade.ts
-- rewrites them after every migration whose name ends with `configs`. A new setting needs such a migration, be it empty.

ALTER TABLE runs ADD COLUMN config_fault TEXT;  -- why the config does not fit this version, NULL where it does
CREATE INDEX runs_by_config ON runs (config_hash);
