// The icons, drawn on a 16 × 16 grid with one stroke width. Decorative by default: the text beside them, or the
// button's label, says what they mean.

import type { ReactNode } from 'react';

const SHAPES = {
  runs: <path d="M2.5 4h11M2.5 8h11M2.5 12h7" />,
  plus: <path d="M8 3v10M3 8h10" />,
  replay: (
    <>
      <path d="M2.8 8a5.2 5.2 0 1 0 1.7-3.9L2.8 5.6" />
      <path d="M2.8 2.6v3h3" />
      <path d="M7 6.2v3.6L10 8z" />
    </>
  ),
  compare: (
    <>
      <path d="M2 12.5c2.5 0 3-7 6-7s3.5 3 6 3" />
      <path d="M2 9.5c3 0 4.5 2.5 12-6" strokeDasharray="2 1.8" />
    </>
  ),
  chart: <path d="M2.5 13.5h11M4.5 13.5v-4M8 13.5v-9M11.5 13.5V7" />,
  cluster: (
    <>
      <rect x="2.5" y="2.5" width="11" height="4.5" rx="1" />
      <rect x="2.5" y="9" width="11" height="4.5" rx="1" />
      <path d="M5 4.75h.01M5 11.25h.01" />
    </>
  ),
  play: <path d="M3.5 2.5 13 7.2l-4.1 1.3-1.6 4.2z" />,
  settings: (
    <>
      <path d="M2.5 5h6M12 5h1.5M2.5 11h1.5M7.5 11h6" />
      <circle cx="10.25" cy="5" r="1.7" />
      <circle cx="5.75" cy="11" r="1.7" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4" />
      <path d="m10 10 3.5 3.5" />
    </>
  ),
  keyboard: (
    <>
      <rect x="1.5" y="4" width="13" height="8.5" rx="1.5" />
      <path d="M4 6.8h.01M6.7 6.8h.01M9.3 6.8h.01M12 6.8h.01M5 9.8h6" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
    </>
  ),
  moon: <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />,
  system: (
    <>
      <rect x="2" y="3" width="12" height="8" rx="1.2" />
      <path d="M5.5 13.5h5" />
    </>
  ),
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  warning: (
    <>
      <path d="M8 2.5 14.2 13H1.8z" />
      <path d="M8 6.5v3M8 11.3h.01" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 7.5v3.3M8 5.2h.01" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.3" />
      <path d="M3.5 10.5h-.2a.8.8 0 0 1-.8-.8V3.3c0-.4.4-.8.8-.8h6.4c.4 0 .8.4.8.8v.2" />
    </>
  ),
  folder: <path d="M2 4.3c0-.4.4-.8.8-.8h3.1l1.4 1.7h5.9c.4 0 .8.4.8.8v6c0 .4-.4.8-.8.8H2.8a.8.8 0 0 1-.8-.8z" />,
  chevronRight: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  chevronDown: <path d="m3.5 6 4.5 4.5L12.5 6" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  start: <path d="M4.5 3v10l8-5z" />,
  step: <path d="M3.5 3.5v9l6-4.5zM12.5 3.5v9" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  trash: <path d="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 8.2c0 .4.4.8.8.8h5.2c.4 0 .8-.4.8-.8l.6-8.2" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 4.7V8l2.3 1.6" />
    </>
  ),
  download: <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.2h10" />,
  expand: <path d="M9.5 2.5h4v4M13 3l-4 4M6.5 13.5h-4v-4M3 13l4-4" />,
  star: <path d="m8 2.2 1.8 3.7 4 .6-2.9 2.9.7 4L8 11.4l-3.6 2 .7-4-2.9-2.9 4-.6z" />,
  starred: <path d="m8 2.2 1.8 3.7 4 .6-2.9 2.9.7 4L8 11.4l-3.6 2 .7-4-2.9-2.9 4-.6z" fill="currentColor" />,
  upload: <path d="M8 10.5V3M4.8 5.8 8 2.6l3.2 3.2M3 13.2h10" />,
  link: <path d="M6.8 9.2 9.2 6.8M7.5 4.6 9 3.1a2.7 2.7 0 0 1 3.9 3.9l-1.5 1.5M8.5 11.4 7 12.9A2.7 2.7 0 0 1 3.1 9l1.5-1.5" />,
  filter: <path d="M2.5 4h11M4.5 8h7M6.7 12h2.6" />,
  chip: (
    <>
      <rect x="4" y="4" width="8" height="8" rx="1.2" />
      <path d="M6.5 1.8v2.2M9.5 1.8v2.2M6.5 12v2.2M9.5 12v2.2M1.8 6.5H4M1.8 9.5H4M12 6.5h2.2M12 9.5h2.2" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {SHAPES[name]}
    </svg>
  );
}

/** The lab's mark: an astrolabe whose pointer rests on a star. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M19.6 10.2a9 9 0 1 1-6.3-5.6" />
      <path d="m7 18 7.6-7.6" />
      <circle cx="11" cy="14" r="1.3" fill="currentColor" stroke="none" />
      <path d="m18.5 1.5 1.3 3.7 3.7 1.3-3.7 1.3-1.3 3.7-1.3-3.7-3.7-1.3 3.7-1.3z" fill="currentColor" stroke="none" />
    </svg>
  );
}
