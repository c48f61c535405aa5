// A plug at the wall, until it is stopped: it shows the likely power of a machine as busy as this one, on a concave
// curve, as processors clock down when all of them work.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { createBusyReader } from '#metering/sources/busy.ts'

export const IDLE_MILLIWATTS = 8000
const FULL_MILLIWATTS = 31_250
const CURVE = 0.75

const busy = createBusyReader()
const shown = new Set<bigint>()
let last = { busyNs: busy.busyNs(), atMs: performance.now() }

/** The mean since it was asked before. */
function milliwatts(): number {
  const now = { busyNs: busy.busyNs(), atMs: performance.now() }
  const capacityNs = Math.max(1, now.atMs - last.atMs) * 1e6 * availableParallelism()
  const share = Math.min(1, Number(now.busyNs - last.busyNs) / capacityNs)
  last = now
  return Math.round(IDLE_MILLIWATTS + (FULL_MILLIWATTS - IDLE_MILLIWATTS) * share ** CURVE)
}

const plug = createServer((_, response) => {
  const power = milliwatts()
  shown.add(BigInt(power))
  response.end(JSON.stringify({ apower: power / 1000 }))
})

let port = 0

/** Starts the plug, at the same port as before; resolves with its address as a setting names it. */
export async function startPlug(): Promise<string> {
  if (!plug.listening) {
    plug.listen(port, '127.0.0.1')
    await once(plug, 'listening')
    port = (plug.address() as AddressInfo).port
    // A test process ends without a call to stopPlug.
    plug.unref()
  }
  return `shelly+http://127.0.0.1:${port}`
}

/** Every power that the plug has shown, in mW. */
export const shownMilliwatts = (): readonly bigint[] => [...shown]

export function stopPlug(): void {
  plug.closeAllConnections()
  plug.close()
}
