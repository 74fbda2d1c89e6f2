// chart.js, with only the parts the lab uses; everything else is left out of the bundle.

import { Chart, Decimation, Filler, LinearScale, LineController, LineElement, LogarithmicScale, PointElement } from 'chart.js';
import annotation from 'chartjs-plugin-annotation';
import zoom from 'chartjs-plugin-zoom';

Chart.register(LineController, LineElement, PointElement, LinearScale, LogarithmicScale, Filler, Decimation, annotation, zoom);

export { Chart };
