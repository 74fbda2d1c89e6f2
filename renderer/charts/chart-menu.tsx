// The menu of every chart: copy it as an image, save it as PNG, SVG or CSV, see it large, keep it on top.

import type { RefObject } from 'react';
import type { Input } from '../../preload/contract.ts';
import { call } from '../bridge.ts';
import { IconButton } from '../components/button.tsx';
import { Menu } from '../components/menu.tsx';
import type { MenuItem } from '../components/menu.tsx';
import { toast, toastError } from '../state/toasts.ts';
import type { Series } from './series.ts';
import type { ChartTheme } from './theme.ts';

export interface Pin {
  readonly pinned: boolean;
  toggle(): void;
}

type Format = Input<'charts.save'>['format'];
type Figure = Input<'charts.save'>['figure'];

interface FigureMenuProps {
  title: string;
  /** Its numbers, as this kind of file wants them. */
  figure: (format: Format) => Figure;
  /** A PNG as base64. */
  picture: () => string;
  onFullScreen?: (() => void) | undefined;
  pin?: Pin | undefined;
}

/** The menu of whatever can be drawn. */
export function FigureMenu({ title, figure, picture, onFullScreen, pin }: FigureMenuProps) {
  const copy = (): void => {
    call('charts.copy', { png: picture() }).then(
      () => toast({ title: 'Chart copied', tone: 'success', milliseconds: 2_000 }),
      (error: unknown) => toastError('Could not copy the chart', error),
    );
  };
  const save = (format: Format) => (): void => {
    call('charts.save', { format, figure: figure(format), png: format === 'png' ? picture() : '' }).then(
      ({ file }) => file !== null && toast({ title: 'Chart saved', body: file, tone: 'success' }),
      (error: unknown) => toastError('Could not save the chart', error),
    );
  };
  const items: (MenuItem | 'line')[] = [
    { label: 'Copy image', icon: 'copy', run: copy },
    { label: 'Save as PNG…', icon: 'download', run: save('png') },
    { label: 'Save as SVG…', icon: 'download', run: save('svg') },
    { label: 'Save data as CSV…', icon: 'download', run: save('csv') },
    'line',
    ...(onFullScreen ? [{ label: 'Enlarge', icon: 'expand' as const, run: onFullScreen }] : []),
    ...(pin ? [{ label: pin.pinned ? 'Unpin' : 'Pin to the top', icon: 'star' as const, run: pin.toggle }] : []),
  ];
  return (
    <Menu items={items}>
      <IconButton icon="more" label={`Menu of ${title}`} />
    </Menu>
  );
}

interface ChartMenuProps extends Pick<FigureMenuProps, 'title' | 'onFullScreen' | 'pin'> {
  unit: string;
  xLabel: string;
  visible: readonly Series[];
  canvas: RefObject<HTMLCanvasElement | null>;
  theme: ChartTheme;
}

export function ChartMenu({ title, unit, xLabel, visible, canvas, theme, ...rest }: ChartMenuProps) {
  return (
    <FigureMenu
      title={title}
      figure={() => ({ title, unit, xLabel, lines: visible.map(lineOf) })}
      picture={() => (canvas.current ? drawPicture(canvas.current, title, visible, theme) : '')}
      {...rest}
    />
  );
}

/** A figure on paper has the paper's shade of the same colour. */
function lineOf({ label, look, x, y, low, high }: Series): Input<'charts.save'>['figure']['lines'][number] {
  return {
    label,
    colour: look.hue ?? 0,
    dash: [...look.dash],
    x: [...x],
    y: [...y],
    ...(low && high && { low: [...low], high: [...high] }),
  };
}

const MARGIN = 16;
const LINE = 20;

/** The plot with its title and legend on the theme's ground, at the screen's sharpness. */
function drawPicture(plot: HTMLCanvasElement, title: string, series: readonly Series[], theme: ChartTheme): string {
  const sharpness = plot.width / plot.clientWidth;
  const head = MARGIN + LINE * (1 + series.length);
  const picture = document.createElement('canvas');
  picture.width = plot.width + 2 * MARGIN * sharpness;
  picture.height = plot.height + (head + MARGIN) * sharpness;
  const pen = picture.getContext('2d');
  if (!pen) return '';
  pen.fillStyle = theme.surface;
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.drawImage(plot, MARGIN * sharpness, head * sharpness);
  pen.scale(sharpness, sharpness);
  pen.textBaseline = 'middle';
  pen.fillStyle = theme.text;
  pen.font = `600 14px ${theme.font}`;
  pen.fillText(title, MARGIN, MARGIN + 4);
  pen.font = `12px ${theme.font}`;
  series.forEach(({ label, look }, index) => {
    const y = MARGIN + LINE * (index + 1) + 4;
    pen.strokeStyle = theme.resolve(look.colour);
    pen.lineWidth = 2;
    pen.setLineDash([...look.dash]);
    pen.beginPath();
    pen.moveTo(MARGIN, y);
    pen.lineTo(MARGIN + 24, y);
    pen.stroke();
    pen.fillText(label, MARGIN + 32, y);
  });
  return base64Of(picture);
}

/** A canvas as a PNG. */
export const base64Of = (canvas: HTMLCanvasElement): string => canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
