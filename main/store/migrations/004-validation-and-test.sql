-- Success during training (validation) and of the finished policy (test) are two numbers. Before, `last` and `best` mixed them,
-- and an evaluation by hand at another temperature replaced both.

ALTER TABLE runs RENAME COLUMN last_k TO validation_k;  -- the latest evaluation during training
ALTER TABLE runs RENAME COLUMN last_n TO validation_n;
ALTER TABLE runs ADD COLUMN validation_update INTEGER;
ALTER TABLE runs ADD COLUMN test_k INTEGER;             -- the final evaluation, else a greedy one by hand on test tasks
ALTER TABLE runs ADD COLUMN test_n INTEGER;
ALTER TABLE runs ADD COLUMN test_update INTEGER;
ALTER TABLE runs ADD COLUMN test_temperature REAL;

UPDATE runs SET
  (validation_k, validation_n, validation_update) = (
    SELECT k, n, update_no FROM evaluations
    WHERE run_id = runs.id AND agent = 'policy' AND kind = 'periodic' AND n > 0
    ORDER BY update_no DESC, id DESC LIMIT 1),
  (best_k, best_n, best_update) = (
    SELECT k, n, update_no FROM evaluations
    WHERE run_id = runs.id AND agent = 'policy' AND kind = 'periodic' AND n > 0
    ORDER BY CAST(k AS REAL) / n DESC, update_no, id LIMIT 1),
  (test_k, test_n, test_update, test_temperature) = (
    SELECT k, n, update_no, temperature FROM evaluations
    WHERE run_id = runs.id AND agent = 'policy' AND n > 0
      AND (kind = 'final' OR (kind = 'manual' AND split = 'test' AND temperature = 0))
    ORDER BY kind = 'final' DESC, update_no DESC, id DESC LIMIT 1);
