// The readiness of an instance, asked from outside: its health page answers, or its port has been open for a second.
import { createConnection } from 'node:net'
import { sleep } from '#base/clock.ts'
import { callUnix } from '#base/unix-client.ts'
import { fault } from '#contract/errors.ts'
import type { WorkloadHealth } from './driver.ts'

const OPEN_MS = 1000
const CONNECT_MS = 2000
const BODY_SHOWN = 500
/** A health page is read whole. */
const ANSWER_BYTES_MAX = 65_536
const STATUS_LEAST = 200
const STATUS_MOST = 399

type ReadinessCheck = (socket: string, signal: AbortSignal) => Promise<void>

/** Rejects with the observation, in words. */
export const readinessCheck = (health: WorkloadHealth | null): ReadinessCheck =>
  health === null
    ? isOpenAwhile
    : async (socket, signal) => {
        const { path, timeoutMs } = health
        const { status, text } = await callUnix({
          socketPath: socket,
          path,
          bytesMax: ANSWER_BYTES_MAX,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
          silence: { ms: timeoutMs, fault: () => seen(`GET ${path} is not answered`) },
        })
        if (status >= STATUS_LEAST && status <= STATUS_MOST) return
        throw seen(`GET ${path} answers ${status}: ${shown(text)}`)
      }

async function isOpenAwhile(socket: string, signal: AbortSignal): Promise<void> {
  await connects(socket)
  await sleep(OPEN_MS, signal)
  await connects(socket)
}

const connects = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path })
    socket.setTimeout(CONNECT_MS, () => socket.destroy(seen('the port does not answer')))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })

const seen = (words: string) => fault('cell_not_ready', words)

const shown = (text: string): string =>
  text
    .slice(0, BODY_SHOWN)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .toWellFormed()
