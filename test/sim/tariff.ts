/** A tariff's body, as a meter publishes it. */
export const TARIFF = {
  meter: 'm1',
  method: 'model',
  band_pct: '30',
  nj_per_cpu_s: '3500000000',
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
}
