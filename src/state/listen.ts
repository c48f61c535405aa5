// NOTIFY of a channel, on a connection of its own that comes back when it is lost.
import pg from 'pg'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'

const RELISTEN_MS = 500

type Listen = {
  readonly config: pg.ClientConfig
  readonly log: Logger
  readonly channel: string
  /** Called with the payload of each notification; with '' when some may have been missed. */
  readonly notified: (payload: string) => void
}

/** Listens on a connection of its own, and on the next one when it is lost. */
export async function listenToChannel(wanted: Listen): Promise<AsyncDisposable> {
  const { log, channel, notified } = wanted
  const stopping = new AbortController()
  let listening = await listenOnce(wanted)
  const kept = (async () => {
    while (!stopping.signal.aborted) {
      const reason = await listening.lost
      if (stopping.signal.aborted) return
      log.warn('The listening connection was lost', { channel, error: messageOf(reason) })
      const next = await relisten(wanted, stopping.signal)
      if (next === undefined) return
      listening = next
      // Notifications sent meanwhile were missed.
      notified('')
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await listening.close()
      await kept
    },
  }
}

async function relisten(wanted: Listen, signal: AbortSignal): Promise<Listening | undefined> {
  for (;;) {
    await sleep(RELISTEN_MS, signal).catch(() => undefined)
    if (signal.aborted) return undefined
    try {
      const next = await listenOnce(wanted)
      if (!signal.aborted) return next
      await next.close()
    } catch {
      // Not back yet; that it was lost has been said.
    }
  }
}

type Listening = { readonly lost: Promise<unknown>; close(): Promise<void> }

async function listenOnce({ config, channel, notified }: Listen): Promise<Listening> {
  const client = new pg.Client({ ...config, statement_timeout: 0 })
  const lost = new Promise<unknown>((resolve) => {
    // One loss is said by several events; the first one counts.
    client.on('error', resolve)
    client.on('end', () => resolve('it was closed'))
  })
  client.on('notification', (message) => notified(message.payload ?? ''))
  try {
    await client.connect()
    await client.query(`listen ${channel}`)
  } catch (error) {
    void client.end()
    throw error
  }
  return { lost, close: () => client.end() }
}
