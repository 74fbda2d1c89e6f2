// Entries of tar archives as no program packs them.

export interface TarEntry {
  readonly name: string;
  readonly type: string;
  readonly link: string;
  readonly content: Buffer;
  /** What its header says; its content's length when null. */
  readonly size: number | null;
}

export function packed({ name, type, link, content, size }: TarEntry): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100, 'utf8');
  header.write('0000644\0', 100, 'latin1');
  header.write(`${(size ?? content.length).toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  );
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
