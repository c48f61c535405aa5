// Yearly carbon intensity by zone, built in so that a node without a network still states a source. Ember, Yearly
// Electricity Data (CC BY 4.0): lifecycle, of a country's production. Two bases differ by up to 2.8 times (what is
// produced, what is consumed), so every figure names its own.

export type TableRow = { readonly mgPerKwh: bigint; readonly year: number }

export const TABLE_SOURCE = 'Ember Yearly Electricity Data'
export const TABLE_BASIS = 'yearly-average-lifecycle-production'

/** The default zone: where the node stands is not known, the mean of the world is assumed. */
export const WORLD = 'WORLD'
export const ASSUMED_BASIS = 'assumed'

// Grams per kWh, times 100, and the last year that Ember gives.
const ROWS: readonly (readonly [zone: string, centigrams: number, year: number])[] = [
  [WORLD, 47300, 2024],
  ['EU', 21302, 2024],
  ['AE', 46751, 2024],
  ['AR', 34483, 2024],
  ['AT', 10262, 2024],
  ['AU', 55376, 2024],
  ['BE', 11758, 2024],
  ['BG', 26421, 2024],
  ['BR', 10606, 2024],
  ['CA', 18499, 2024],
  ['CH', 3672, 2024],
  ['CL', 26552, 2024],
  ['CN', 55750, 2024],
  ['CO', 28580, 2024],
  ['CZ', 41386, 2024],
  ['DE', 34206, 2024],
  ['DK', 14330, 2024],
  ['EE', 34102, 2024],
  ['ES', 14615, 2024],
  ['FI', 7225, 2024],
  ['FR', 4418, 2024],
  ['GB', 21579, 2024],
  ['GR', 31976, 2024],
  ['HK', 68199, 2023],
  ['HU', 18282, 2024],
  ['ID', 68243, 2023],
  ['IE', 27979, 2024],
  ['IL', 56726, 2023],
  ['IN', 70896, 2024],
  ['IS', 2833, 2023],
  ['IT', 28775, 2024],
  ['JP', 48373, 2024],
  ['KE', 8483, 2024],
  ['KR', 41565, 2024],
  ['LT', 13934, 2024],
  ['LU', 13462, 2024],
  ['MX', 48314, 2024],
  ['MY', 60443, 2024],
  ['NG', 50785, 2024],
  ['NL', 25270, 2024],
  ['NO', 3075, 2024],
  ['NZ', 12011, 2024],
  ['PL', 61498, 2024],
  ['PT', 11180, 2024],
  ['RO', 24555, 2024],
  ['SA', 69195, 2024],
  ['SE', 3589, 2024],
  ['SG', 49874, 2024],
  ['TH', 55543, 2024],
  ['TR', 46970, 2024],
  ['TW', 63515, 2024],
  ['UA', 25047, 2022],
  ['US', 38355, 2024],
  ['VN', 48613, 2024],
  ['ZA', 71390, 2024],
]

/** Zone → mg CO₂e per kWh; zones are ISO 3166-1 alpha-2 codes, EU and WORLD. */
export const createCarbonTable = (): ReadonlyMap<string, TableRow> =>
  new Map(
    ROWS.map(([zone, centigrams, year]) => [zone, { mgPerKwh: BigInt(centigrams) * 10n, year }]),
  )
