// A power meter at the wall, as the product sees it: in windows, on receipts, in the status, and gone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseWindow } from '#metering/window-record.ts'
import type { MeterWindow } from '#metering/window.ts'
import { chargeOf } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { shownMilliwatts, startPlug, stopPlug } from './plug-server.ts'
import { METERED } from '../settings.ts'

product(METERED)

const WINDOWS_MAX_MS = 30_000

test('a plug is on windows and receipts, and the model stands in by name when it is gone', async (t) => {
  const ergon = sharedErgon()
  // Other files share the product, and may come later.
  t.after(startPlug)
  const { idleNj, readingNj, elapsedNs } = await windowWith(
    ergon,
    ({ method }) => method === 'plug',
  )
  const ofShown = shownMilliwatts().map((power) => (power * elapsedNs) / 1000n)
  assert.ok(ofShown.includes(readingNj), `${readingNj} in ${elapsedNs} ns`)
  assert.ok(idleNj < readingNj)

  const charge = await charged(ergon, 'plug; band=3%')
  assert.deepEqual([...new Set(charge.parts.map(({ meter }) => meter))], ['node'])
  const watts = Number(await shownWatts(ergon))
  // Divided by the time of the window and rounded down: a milliwatt less.
  const isShown = (power: bigint) => Math.abs(Number(power) - watts * 1000) < 1.5
  assert.ok(shownMilliwatts().some(isShown), `${watts} W`)

  stopPlug()
  const { fallback } = await windowWith(ergon, ({ method }) => method === 'model')
  assert.match(fallback ?? '', /^shelly: /)
  await charged(ergon, 'model; band=40%')
  await assert.rejects(ergon.control('meter.calibrate'), /^Error: Could not calibrate: shelly: /)
})

/** The output of `ergon meter` for a window that the plug measured: on a busy machine the model has some. */
async function shownWatts(ergon: Ergon): Promise<string> {
  const signal = AbortSignal.timeout(WINDOWS_MAX_MS)
  for (;;) {
    const { now } = await ergon.control('meter.status')
    if (now?.method === 'plug') return now.watts
    await pause(100, undefined, { signal })
  }
}

/** The newest window that the condition holds for. */
async function windowWith(
  ergon: Ergon,
  condition: (window: MeterWindow) => boolean,
): Promise<MeterWindow> {
  const signal = AbortSignal.timeout(WINDOWS_MAX_MS)
  for (;;) {
    const [row] = await ergon.sql<{ bytes: Buffer }>(
      'select bytes from windows order by k desc limit 1',
    )
    const window = row === undefined ? undefined : parseWindow(row.bytes)
    if (window !== undefined && condition(window)) return window
    await pause(100, undefined, { signal })
  }
}

/**
 * Asks until a reply is billed by this method; its charge in the ledger. Without a pause: only windows that
 * are busy make a tariff.
 */
async function charged(ergon: Ergon, method: string) {
  const signal = AbortSignal.timeout(WINDOWS_MAX_MS)
  for (;;) {
    const response = await fetch(`${ergon.baseUrl}/v1/models`, {
      headers: { Authorization: `Bearer ${ergon.token}` },
    })
    await response.text()
    const charge = await chargeOf(ergon, response.headers.get('x-receipt-id') ?? '')
    const [own] = charge.parts
    if (`${own?.method}; band=${own?.band_pct}%` === method) return charge
    signal.throwIfAborted()
  }
}
