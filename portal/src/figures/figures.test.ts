// Each line of the table of figures in the portal's design, and the register's rule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesExact, bytesShort, partsOf, share } from './amounts.ts'
import { asMuchAs } from './as-much-as.ts'
import { carbonExact, carbonShort } from './carbon.ts'
import { energyExact, energyLeft, energyShort, power, registerDigits } from './energy.ts'
import { bandWords, exactDigits, figureOf, figureOfSums, registerOf, spoken } from './known.ts'
import { balanceExact, balanceShort, moneyExact, moneyShort } from './money.ts'
import {
  ago,
  clockExact,
  day,
  dayAndClock,
  daysLeft,
  lasting,
  left,
  minuteTime,
  tableTime,
} from './time.ts'

/** Checks a function by pairs of input and text; a space in the text stands for one that does not break. */
function prints<Input>(
  print: (input: Input) => string,
  pairs: readonly (readonly [Input, string])[],
) {
  for (const [input, text] of pairs)
    assert.equal(print(input).replaceAll('\u00a0', ' '), text, String(input))
}

test('energyShort() has three digits and the largest unit', () => {
  prints(energyShort, [
    [0n, '0 J'],
    [42n, '42 nJ'],
    [388_120n, '388 µJ'],
    [358_035_898n, '358 mJ'],
    [999_600_000n, '1.00 J'],
    [1_688_340_912n, '1.69 J'],
    [20_506_907_000_000n, '20.5 kJ'],
    [71_800_000_000_000_000n, '71.8 MJ'],
    [-1_688_340_912n, '−1.69 J'],
  ])
})

test('energyExact() always has nine decimals, the register three from 100 J on', () => {
  prints(energyExact, [
    [358_035_898n, '0.358035898 J'],
    [20_506_907_000_001n, '20,506.907000001 J'],
    [10n ** 27n, '1,000,000,000,000,000,000.000000000 J'],
  ])
  prints(registerDigits, [
    [20_506_907_999_999n, '20,506.907'],
    [99_999_999_999n, '99.999999999'],
  ])
})

test('power() is in watts, from a thousand on in kilowatts', () => {
  prints(power, [
    [0n, '0 W'],
    [400_000n, 'under 0.001 W'],
    [500_000n, '0.001 W'],
    [874_000_000n, '0.874 W'],
    [21_000_000n, '0.021 W'],
    [2_640_000_000n, '2.64 W'],
    [1_204_000_000_000n, '1.2 kW'],
  ])
})

test('moneyShort() rounds cents down, and names small amounts by their unit', () => {
  prints(moneyShort, [
    [4_989_999_999_999n, '$4.98'],
    [10_000_000_000n, '$0.01'],
    [2_653_000n, '2.65 µ$'],
    [24_863n, '24.9 n$'],
    [271n, '271 p$'],
    [1_234_567_000_000_000n, '$1,234.56'],
    [-24_863n, '−24.9 n$'],
    [0n, '$0'],
  ])
})

test('moneyExact() goes to the pico-dollar, and test money says so', () => {
  prints(moneyExact, [[24_863n, '$0.000000024863']])
  assert.equal(moneyExact(24_863n, 'tUSD'), '0.000000024863\u00a0tUSD')
  assert.equal(moneyShort(4_989_999_999_999n, 'tUSD'), '4.98\u00a0tUSD')
  assert.equal(moneyShort(-2_653_000n, 'tUSD'), '−2.65\u00a0µtUSD')
  assert.equal(moneyShort(0n, 'tUSD'), '0\u00a0tUSD')
  assert.equal(balanceShort(4_986_214_073_912n, 'tUSD'), '4.98\u00a0tUSD')
  assert.equal(balanceShort(4_986_214_073_912n, 'USD'), '$4.98')
  assert.equal(balanceExact(4_986_214_073_912n, 'tUSD'), '4.986214073912\u00a0tUSD')
  assert.equal(balanceShort(-1_500_000_000_000n, 'USD'), '−$1.50')
})

test('balanceShort() says "just under" where less than a tenth of a cent lacks, and is never more than there is', () => {
  prints(
    (pusd: bigint) => balanceShort(pusd, 'tUSD'),
    [
      [5_000_000_000_000n, '5.00 tUSD'],
      [4_999_999_920_000n, 'just under 5.00 tUSD'],
      [4_999_000_000_001n, 'just under 5.00 tUSD'],
      [4_999_000_000_000n, '4.99 tUSD'],
      [1n, '0.00 tUSD'],
      [9_999_999_999n, 'just under 0.01 tUSD'],
      [0n, '0.00 tUSD'],
    ],
  )
  assert.equal(balanceShort(999_999_999_999_999n, 'USD'), 'just under $1,000.00')
})

test('carbon is in grams and their parts', () => {
  prints(carbonShort, [
    [47_041_938n, '47.0 µg CO₂e'],
    [2_694_000_000_000n, '2.69 g CO₂e'],
    [1_204_000_000_000_000n, '1.2 kg CO₂e'],
  ])
  prints(carbonExact, [[47_041_938n, '47,041,938 pg']])
})

test('bytes are in powers of 1000', () => {
  prints(bytesShort, [
    [412_316_860n, '412 MB'],
    [999n, '999 B'],
    [0n, '0 B'],
  ])
  prints(bytesExact, [[412_316_860n, '412,316,860 B']])
})

test('partsOf() rounds by the largest remainder: the parts are 100 % together', () => {
  const plain = (...amounts: readonly bigint[]) =>
    partsOf(amounts).map((part) => part.replace('\u{a0}', ' '))
  assert.deepEqual(plain(9744n, 256n), ['97.4 %', '2.6 %'])
  assert.deepEqual(plain(1n, 1n, 1n), ['33.4 %', '33.3 %', '33.3 %'])
  assert.deepEqual(plain(10n ** 9n, 1n, 0n), ['over 99.9 %', 'under 0.1 %', '0 %'])
  assert.deepEqual([plain(5n), plain(0n, 0n), plain()], [['100 %'], ['0 %', '0 %'], []])
  const sum = plain(70n, 123n, 411n, 60n, 9_999n).reduce((all, part) => all + parseFloat(part), 0)
  assert.equal(sum.toFixed(1), '100.0')
})

test('share() is never 100 % unless it is', () => {
  const of = (whole: bigint) => (part: bigint) => share(part, whole)
  prints(of(100n), [
    [58n, '58 %'],
    [100n, '100 %'],
    [0n, '0 %'],
    [120n, '120 %'],
  ])
  prints(of(10_000n), [
    [9_998n, '99.98 %'],
    [38n, '0.38 %'],
  ])
  prints(of(10n ** 9n), [
    [999_999_999n, '99.99 %'],
    [1n, 'under 0.01 %'],
  ])
})

test('the rest is cut off: it never looks larger than it is', () => {
  prints(energyLeft, [
    [49_999_999_999_999n, '49.9 kJ'],
    [50_000_000_000_000n, '50.0 kJ'],
    [999_999n, '999 µJ'],
    [0n, '0 J'],
  ])
})

test('times are relative up to a day and exact in tables', () => {
  const now = new Date('2026-11-24T09:41:10Z')
  const before = (seconds: number) => new Date(now.getTime() - seconds * 1000)
  prints(
    (seconds: number) => ago(before(seconds), now, 'UTC'),
    [
      [3, '3 s ago'],
      [14 * 60, '14 min ago'],
      [5 * 3600, '5 h ago'],
      [2 * 86_400, '22 Nov'],
      [-3, 'in 3 s'],
    ],
  )
  prints((at: Date) => clockExact(at, 'UTC'), [[before(3), '09:41:07 UTC']])
  prints(dayAndClock, [[before(3), '24 Nov 2026, 09:41:07 UTC']])
  prints((at: Date) => day(at, 'UTC', now), [[new Date('2025-11-22T09:41:07Z'), '22 Nov 2025']])
  prints(
    (at: Date) => minuteTime(at, 'UTC', now),
    [
      [before(3), '09:41 UTC'],
      [before(86_403), '23 Nov 09:41 UTC'],
    ],
  )
  prints(
    (at: Date) => tableTime(at, 'UTC', now),
    [
      [before(3), '09:41:07'],
      [before(86_403), '23 Nov 09:41:07'],
    ],
  )
  prints(left, [
    [51_540_000, '14 h 19 min'],
    [65_000, '1 min'],
  ])
})

test('lasting() cuts off to years, months, days or hours', () => {
  prints(lasting, [
    [1403, '3 years and 10 months'],
    [730.5, '2 years'],
    [45, '45 days'],
    [0.5, '12 hours'],
    [Infinity, 'more than 100 years'],
  ])
})

test('daysLeft() is the balance over the rate of the day so far', () => {
  const noon = new Date('2026-11-24T12:00:00Z')
  assert.equal(daysLeft(1000n, 10n, noon), 50)
  assert.equal(daysLeft(1000n, 0n, noon), undefined)
})

test('a register is heavy as far as both ends of the band agree, and one digit more', () => {
  const split = (nj: bigint, bandPct: number) => {
    const { heavy, light } = registerOf({ nj, bandPct })
    return `${heavy}|${light}`
  }
  assert.equal(split(358_035_898n, 40), '0.3|58035898')
  assert.equal(split(341_207_114n, 5), '0.34|1207114')
  assert.equal(split(20_506_907_000_000n, 40), '2|0,506.907')
  assert.equal(split(41_208_330n, 40), '0.04|1208330')
  assert.equal(split(388_120n, 40), '0.0003|88120')
  assert.equal(split(9_000_000_000n, 40), '9|.000000000')
  assert.equal(split(358_035_898n, 0), '0.358035898|')
  assert.equal(split(0n, 40), '0.000000000|')
  const exact = exactDigits({ nj: 20_506_907_000_001n, bandPct: 1 })
  assert.equal(`${exact.heavy}|${exact.light}`, '20,5|06.907000001')
})

test('a sum of usage has the bands of its rows, and none while a row has none', () => {
  const row = { energy_nj: '300', measured_nj: '0', band_pct: 40 }
  const read = { energy_nj: '101', measured_nj: '101', band_pct: 5 }
  const figure = (...rows: Parameters<typeof figureOfSums>[0]) => figureOfSums(rows)
  assert.deepEqual(figure(row, read), { nj: 401n, known: 'modelled', bandPct: 32 })
  assert.deepEqual(figure(read), { nj: 101n, known: 'measured', bandPct: 5 })
  assert.equal(figure(row, { ...read, band_pct: null }).bandPct, undefined)
  assert.deepEqual(figure(), { nj: 0n, known: 'modelled', bandPct: 0 })
})

test('a sum has the bands of its parts, weighted by energy', () => {
  const figure = figureOf([
    { method: 'model', band_pct: '40', energy_nj: '345555899' },
    { method: 'rapl', band_pct: '5', energy_nj: '12479999' },
  ])
  assert.deepEqual(figure, { nj: 358_035_898n, known: 'modelled', bandPct: 39 })
  assert.deepEqual(figureOf([]), { nj: 0n, known: 'modelled', bandPct: 0 })
  assert.equal(
    spoken({ nj: 358_035_898n, known: 'modelled', bandPct: 40 }),
    '0.358035898 joules, modelled, plus or minus 40 percent',
  )
})

test('bandWords() has two digits of the low end at least, and both ends contain the band', () => {
  const words = (nj: bigint, bandPct: number | undefined) => bandWords({ nj, bandPct }).join(' to ')
  assert.equal(words(358_035_898n, 40), '0.21 to 0.51')
  assert.equal(words(11_200_000n, 40), '0.0067 to 0.0157')
  assert.equal(words(388_120n, 40), '0.00023 to 0.00055')
  assert.equal(words(5n, 40), '0.000000003 to 0.000000007')
  assert.equal(words(9_000_000_000n, 40), '5.4 to 12.6')
  assert.equal(words(20_506_907_000_001n, 40), '12,304 to 28,710')
  assert.equal(words(341_207_114n, 1), '0.33 to 0.35')
  assert.equal(words(1n, 50), '0.000000000 to 0.000000002')
  // A band of 100 % and more begins at zero; nothing vouches for a figure without a band.
  assert.equal(words(11_200_000n, 100), '0.000 to 0.023')
  assert.equal(words(11_200_000n, undefined), '0.000 to 0.023')
  const [low, high] = bandWords({ nj: 358_035_898n, bandPct: 0 })
  assert.equal(low, high, 'no band')
})

test('asMuchAs() chooses the comparison by size', () => {
  prints(
    (nj: bigint) => asMuchAs(nj) ?? '',
    [
      [0n, ''],
      [358_035_898n, 'lifting an apple by 36 cm'],
      [388_120n, 'lifting an apple by less than a millimetre'],
      [800_000_000_000n, 'an 8 W lamp for 2 min'],
      [20_506_907_000_000n, '38 % of a phone charge'],
      [135_000_000_000_000n, '2.5 phone charges'],
      [3_350_000_000_000_000n, '10 litres of water to the boil'],
      [72_000_000_000_000_000n, '120 km by electric car'],
    ],
  )
})
