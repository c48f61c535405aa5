// The program of the node agent: it runs until a signal or the end of the process that started it.
import { Socket } from 'node:net'
import { ErgonError, messageOf } from '#base/errors.ts'
import { readSettings } from '#config/config.ts'
import { parentDescriptor, readEnvironment } from '#config/env.ts'
import { asksForHelp, settingsHelp } from '#config/help.ts'
import { createLogTail } from '#base/log-tail.ts'
import { createReporter, type Reporter } from '#node/report.ts'
import { startAgent } from './agent.ts'
import { wordFaults } from './setting-words.ts'

// All stages together have 19 s (node/stop-budget.ts): this is for what hangs in our own.
const STOP_TIMEOUT_MS = 22_000

/** As of `ergon`: what was asked for cannot be read. */
const EXIT_MISUSED = 2

/** `version`: of the code, where the start knows it. */
export async function runAgent(version: string | undefined): Promise<void> {
  if (asksForHelp(process.argv.slice(2))) {
    process.stdout.write(settingsHelp())
    process.exit(0)
  }
  const logTail = createLogTail()
  const report = createReporter(logTail)
  const stopping = new AbortController()
  let started = false
  try {
    const config = readSettings(readEnvironment(), process.argv.slice(2), wordFaults)
    const stop = stopper(stopping, report)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => stop(signal))
    followParent(stop)
    const { signal } = stopping
    const agent = await startAgent(config, { signal, report, logTail, version })
    started = true
    const reason = await stopped(signal)
    await agent.stop(reason)
    report.stopped()
    process.exit(0)
  } catch (error) {
    // Stopped in the middle of the start: what had been started is stopped already, and what failed
    // (a child that was ended, say) failed because of it.
    const isStopped = stopping.signal.aborted && !started
    if (isStopped) report.stopped()
    else report.failed(messageOf(error))
    const isMisused = error instanceof ErgonError && error.code === 'settings_invalid'
    process.exit(isStopped ? 0 : isMisused ? EXIT_MISUSED : 1)
  }
}

type Stop = (reason: string) => void

const stopper =
  (stopping: AbortController, report: Reporter): Stop =>
  (reason) => {
    if (stopping.signal.aborted) return
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    report.stopping(reason)
    stopping.abort(reason)
  }

/** Resolves with the reason when it is time to stop. */
function stopped(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(String(signal.reason))
    signal.addEventListener('abort', () => resolve(String(signal.reason)))
  })
}

function followParent(stop: Stop): void {
  const parent = parentDescriptor()
  if (parent === undefined) return
  const pipe = new Socket({ fd: parent })
  pipe.on('error', () => undefined)
  pipe.on('close', () => stop('the starting process is gone'))
  pipe.resume()
}
