// The one model that can be fetched: what it is called and what it is. Apart from fetch.ts, which needs the ONNX reader.

export const FETCHABLE = [{ name: 'minimind2', title: 'MiniMind2-Small, 26 million parameters, Apache-2.0, a download of 24 MB' }] as const;
