// The bench of losses lives beside `lab plugin check`, which runs it against algorithms of plug-ins.
export * from '../../main/plugin/loss-bench.ts';
