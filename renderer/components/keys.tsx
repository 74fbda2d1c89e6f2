// Draws a shortcut the way the platform writes it: `$mod+k` is ⌘K on a Mac and Ctrl K elsewhere, `g r` two keys in a row.

import styles from './keys.module.css';

const MAC = navigator.userAgent.includes('Mac');
const NAMES: Readonly<Record<string, string>> = {
  $mod: MAC ? '⌘' : 'Ctrl',
  Control: 'Ctrl',
  Shift: MAC ? '⇧' : 'Shift',
  Alt: MAC ? '⌥' : 'Alt',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  Delete: 'Del',
  Comma: ',',
};

export function Keys({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keys.split(' ').map((press, index) => (
        <span key={index} className={styles.press}>
          {pressParts(press).map((part) => (
            <kbd key={part} className={styles.key}>
              {NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part)}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}

/** "Shift+?" is typed as "?", so it is drawn so; everything else as it is written. */
function pressParts(press: string): string[] {
  return press === 'Shift+?' ? ['?'] : press.split('+');
}
