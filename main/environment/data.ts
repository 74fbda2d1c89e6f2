// Data that a user can bring to a world: the setting and the command line option that name its folder, and, where the data must be
// prepared once, the importer that the Settings page offers.

export interface WorldData {
  /** The setting that names the folder. */
  readonly setting: string;
  /** The command line's option for it. */
  readonly option: string;
  readonly description: string;
  /** Settings that have no effect without the data. */
  readonly onlyWith?: readonly string[];
  readonly importer?: DataImporter;
}

export interface DataImporter {
  readonly title: string;
  /** What the data is and what importing does, for people. */
  readonly about: string;
  /** The folder to choose holds one of these files. */
  readonly files: readonly string[];
  /** An example of a path. */
  readonly placeholder: string;
  /** What the result counts (`products`), with the word that is shown for it; the first is the size of the data. */
  readonly counts: Readonly<Record<string, string>>;
  /** What it may write into the lab's data folder: how the name begins, a title and an explanation. */
  readonly storage?: { readonly name: string; readonly title: string; readonly what: string };
  start(folder: string, progress: (share: number, what: string) => void): DataImport;
}

export interface DataImport {
  /** Rejects with an error that has a `hint`; with the code `cancelled` when it was cancelled. */
  readonly finished: Promise<ImportedData>;
  cancel(): void;
}

export interface ImportedData {
  readonly counts: Readonly<Record<string, number>>;
  /** Where the index was written, and its size. */
  readonly index: string;
  readonly indexBytes: number;
  /** Records that were left out. */
  readonly skipped: number;
}
