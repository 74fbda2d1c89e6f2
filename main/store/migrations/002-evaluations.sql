-- Evaluations task by task (for paired statistics), the samples behind V*, and the reference policies.

CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER REFERENCES runs (id) ON DELETE CASCADE,  -- NULL: an agent without a run (random, heuristic, …)
  update_no INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('periodic', 'final', 'manual')),
  agent TEXT NOT NULL,                  -- policy, reference, random, heuristic, oracle
  world TEXT NOT NULL,
  world_hash TEXT NOT NULL,             -- sha256 of the world's settings: only equal ones may be compared
  split TEXT NOT NULL CHECK (split IN ('train', 'validation', 'test')),
  temperature REAL NOT NULL,
  k INTEGER NOT NULL,
  n INTEGER NOT NULL,
  mean_return ANY NOT NULL,
  mean_steps REAL NOT NULL,
  seconds REAL NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX evaluations_by_run ON evaluations (run_id, update_no);

CREATE TABLE evaluation_results (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  task INTEGER NOT NULL,                -- labels.id, as are category, tier and failure
  category INTEGER NOT NULL,
  tier INTEGER NOT NULL,
  failure INTEGER,
  seed INTEGER NOT NULL,
  success INTEGER NOT NULL,
  return ANY NOT NULL,
  steps INTEGER NOT NULL,
  episode_id INTEGER REFERENCES episodes (id) ON DELETE SET NULL,
  PRIMARY KEY (evaluation_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX evaluation_results_by_episode ON evaluation_results (episode_id) WHERE episode_id IS NOT NULL;

-- The raw returns of the reference policy on a task: every estimator and every β is computed from them.
CREATE TABLE vstar_samples (
  key BLOB PRIMARY KEY,                 -- sha256 of all that determines the samples
  world TEXT NOT NULL,
  task TEXT NOT NULL,
  reference TEXT NOT NULL,              -- sha256 of the reference weights
  seed INTEGER NOT NULL,
  temperature REAL NOT NULL,
  samples INTEGER NOT NULL,
  returns BLOB NOT NULL,                -- float64
  successes BLOB NOT NULL,              -- one byte each
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX vstar_samples_by_task ON vstar_samples (world, task);

-- The value a run used for a task from an update on.
CREATE TABLE run_vstar (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  task INTEGER NOT NULL,
  update_no INTEGER NOT NULL,
  k INTEGER NOT NULL,
  n INTEGER NOT NULL,
  value ANY NOT NULL,
  PRIMARY KEY (run_id, task, update_no)
) STRICT, WITHOUT ROWID;

-- A reference policy is found again by its recipe: the hash of everything that made it.
CREATE TABLE reference_policies (
  recipe TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,                 -- of the weights file
  file TEXT NOT NULL,                   -- relative to the data folder
  bytes INTEGER NOT NULL,
  world TEXT NOT NULL,
  details TEXT NOT NULL,                -- canonical JSON: settings, success, training numbers
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
