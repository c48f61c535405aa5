import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCardLine } from './card-line.ts'
import { createCardRounds } from './card-rounds.ts'
import { cardLine, cardUuid } from './gpu-record.fixture.ts'

const EVERY_MS = 200

/** Rounds of one card by default, a line each 200 ms. */
function rig(cards = 1) {
  const rounds = createCardRounds(new Set(Array.from({ length: cards }, (_, i) => cardUuid(i))))
  let ms = 0
  const hear = (line: string) => {
    const reading = readCardLine(line)
    assert.ok(reading !== undefined, line)
    rounds.add(reading, ms)
  }
  const pass = (count: number, watts: string, busy = '0') => {
    for (let i = 0; i < count; i++) {
      ms += EVERY_MS
      hear(cardLine({ watts, busy }))
    }
  }
  return {
    rounds,
    hear,
    pass,
    later: (more: number) => void (ms += more),
    take: () => rounds.take(ms),
  }
}

test('take() gives the newest mean of a second, and over longer windows one for each second', () => {
  const { pass, take } = rig()
  pass(4, '100.00')
  pass(1, '200.00')
  assert.deepEqual(take(), { kind: 'power', milliwatts: 200_000n })
  // Two seconds: each second has a mean of its own.
  pass(5, '100.00')
  pass(5, '300.00')
  assert.deepEqual(take(), { kind: 'power', milliwatts: 200_000n })
})

test('take() adds the cards up, whatever their order', () => {
  const { rounds, hear, take } = rig(2)
  hear(cardLine({ index: 1, watts: '30.50' }))
  assert.equal(rounds.milliwatts, undefined)
  hear(cardLine({ watts: '70.00' }))
  assert.deepEqual(take(), { kind: 'power', milliwatts: 100_500n })
})

test('take() says why it has nothing: a card is gone, is blind, is new, or all are silent', () => {
  const gone = rig(2)
  for (let i = 0; i < 3; i++) gone.hear(cardLine({ watts: '70.00' }))
  assert.deepEqual(gone.take(), { kind: 'unavailable', reason: `${cardUuid(1)} is gone` })
  const blind = rig()
  blind.pass(1, '[N/A]')
  assert.match(JSON.stringify(blind.take()), /NVIDIA H200 gives no power.draw.average/)
  blind.pass(1, '90.00')
  assert.equal(blind.take().kind, 'power')
  const stranger = rig()
  stranger.hear(cardLine({ index: 3, watts: '70.00' }))
  stranger.hear(cardLine({ index: 3, watts: '70.00' }))
  assert.match(JSON.stringify(stranger.take()), /was not there at the start/)
  const silent = rig()
  silent.pass(5, '70.00')
  silent.later(2001)
  assert.deepEqual(silent.take(), { kind: 'unavailable', reason: 'no reading for 2000 ms' })
})

test('take() gives each reading once', () => {
  const { pass, take } = rig()
  pass(1, '70.00')
  assert.equal(take().kind, 'power')
  assert.equal(take().kind, 'unavailable')
})

test('the idle power is the least at first, then that of a second ago once quiet seconds were before it', () => {
  const { rounds, pass } = rig()
  pass(1, '78.00')
  pass(10, '300.00', '90')
  assert.equal(rounds.idleMilliwatts, 78_000n)
  pass(10, '121.00')
  pass(5, '120.00')
  assert.equal(rounds.idleMilliwatts, 78_000n)
  pass(1, '119.00')
  assert.equal(rounds.idleMilliwatts, 120_000n)
  // Under load the last quiet one stays.
  pass(50, '650.00', '100')
  assert.equal(rounds.idleMilliwatts, 120_000n)
})

test('the idle power has no first moment of a load, whose use is reported a reading late', () => {
  // Two starts of a load on an H200, on 2026-11-27: 122.50 W and 127.09 W are partly of the load, with 0 %.
  for (const [idle, late] of [
    ['122.40', '122.50'],
    ['122.70', '127.09'],
  ] as const) {
    const { rounds, pass } = rig()
    pass(20, idle)
    pass(1, late)
    pass(1, '190.43', '39')
    assert.equal(rounds.idleMilliwatts, BigInt(idle.replace('.', '')) * 10n)
  }
})

test('behind the start of a model all power is idle power, until the cards are quiet', () => {
  // Seconds 8 to 12 of a start on an H200, and the first request.
  const { rounds, pass } = rig()
  pass(20, '77.35')
  pass(1, '78.50')
  rounds.forgetIdle()
  pass(5, '119.61', '1')
  assert.equal(rounds.idleMilliwatts, 119_610n)
  pass(16, '117.57')
  assert.equal(rounds.idleMilliwatts, 117_570n)
  pass(5, '125.25', '20')
  assert.equal(rounds.idleMilliwatts, 117_570n)
})

for (const busy of ['30', '[N/A]'])
  test(`cards that are never quiet have the least power since the change (${busy} %)`, () => {
    const { rounds, pass } = rig()
    pass(20, '77.00')
    rounds.forgetIdle()
    // A second of means with power of before.
    pass(5, '90.00', busy)
    assert.equal(rounds.idleMilliwatts, 90_000n)
    pass(144, '165.00', busy)
    pass(1, '160.00', busy)
    pass(1, '300.00', busy)
    assert.equal(rounds.idleMilliwatts, 160_000n)
    pass(50, '165.00', busy)
    assert.equal(rounds.idleMilliwatts, 160_000n)
    rounds.forgetIdle()
    pass(200, '140.00', busy)
    assert.equal(rounds.idleMilliwatts, 140_000n)
  })

test('a model that starts while the lines are away makes the idle power unknown, too', () => {
  const { rounds, pass } = rig()
  pass(20, '77.00')
  rounds.restart()
  rounds.forgetIdle()
  assert.equal(rounds.idleMilliwatts, 77_000n)
  pass(50, '165.00', '30')
  assert.equal(rounds.idleMilliwatts, 165_000n)
})

test('busy time is that of the cards together, and that of a gap is not known', () => {
  const { rounds, pass, later } = rig()
  pass(1, '78.00', '50')
  pass(5, '300.00', '50')
  assert.equal(rounds.busyNs, 500_000_000n)
  later(10_000)
  pass(1, '300.00', '100')
  assert.equal(rounds.busyNs, 500_000_000n)
  pass(1, '300.00', '[N/A]')
  assert.equal(rounds.busyNs, 500_000_000n)
})

test('restart() forgets what came before it', () => {
  const { rounds, hear, pass, take } = rig(2)
  hear(cardLine({ watts: '70.00' }))
  rounds.restart()
  hear(cardLine({ index: 1, watts: '70.00' }))
  assert.equal(take().kind, 'unavailable')
  pass(1, '70.00')
  assert.equal(take().kind, 'power')
})

/**
 * The lines of a whole run of the product on an H200, on 2026-11-27: its start, 14 s with one chat request at once, and
 * 14 s with eight. NVML's counter of energy rose by 8626.929 J in the same 73.833 s.
 */
const RUN = readFileSync(join(import.meta.dirname, 'h200-run.fixture.csv'), 'utf8')
  .trim()
  .split('\n')
const COUNTER_WATTS = 8626.929 / 73.833

test('the windows of a real run are within 1 % of the counter of NVML', () => {
  const readings = RUN.map((line) => readCardLine(line)).filter((one) => one !== undefined)
  assert.equal(readings.length, RUN.length)
  const rounds = createCardRounds(new Set(readings.map(({ uuid }) => uuid)))
  let energyMilliwattS = 0n
  let seconds = 0
  for (const [index, reading] of readings.entries()) {
    const ms = (index + 1) * EVERY_MS
    rounds.add(reading, ms)
    if (ms % 1000 !== 0) continue
    const power = rounds.take(ms)
    assert.ok(power.kind === 'power')
    energyMilliwattS += power.milliwatts
    seconds++
  }
  const watts = Number(energyMilliwattS) / 1000 / seconds
  assert.ok(Math.abs(watts / COUNTER_WATTS - 1) < 0.01, `${watts} W of ${COUNTER_WATTS} W`)
})
