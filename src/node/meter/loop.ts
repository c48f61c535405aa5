// Once a second: closes the meter's window, journals it, publishes the tariff, and charges accounts for their cells.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { CellMinutes } from '#charging/cell-minutes.ts'
import type { Session } from '#charging/session.ts'
import { windowBytes } from '#metering/window-record.ts'
import type { State } from '#state/connect.ts'
import { createGrace } from '#node/grace.ts'
import type { Meter } from './meter.ts'

const WINDOW_MS = 1000
// A gateway that is slower says it in the next window; sensors have their own limit, 800 ms.
const REFRESH_MS = 500

export function startMeterLoop(deps: {
  meter: Meter
  session: Session
  minutes: CellMinutes
  state: State
  log: Logger
}): { stop(): Promise<void> } {
  const { meter, session, minutes, state, log } = deps
  const grace = createGrace({ state })
  let running: Promise<void> | undefined
  let charging = Promise.resolve()

  async function turn(): Promise<void> {
    try {
      await meter.refresh(AbortSignal.timeout(REFRESH_MS))
      const [window, gpuWindow] = await Promise.all([meter.closeWindow(), meter.closeGpuWindow()])
      session.append('window', windowBytes(window), [])
      if (gpuWindow !== undefined) session.append('window', windowBytes(gpuWindow), [])
      minutes.add(window)
      // It waits for the ledger, which no window does.
      charging = minutes.charge('over')
      await meter.publish(state)
      await grace.add(window)
    } catch (error) {
      log.warn('A meter window went wrong', { error: messageOf(error) })
    }
  }

  const timer = setInterval(() => {
    // A turn that takes longer makes its window longer: no energy is lost, and nothing queues up.
    running ??= turn().finally(() => (running = undefined))
  }, WINDOW_MS)
  return {
    /** Ends with a window of the use since the last one. */
    async stop() {
      clearInterval(timer)
      await running
      await turn()
      await charging
      await minutes.charge('all')
    },
  }
}
