// Probes of the node's own addresses, as a customer would reach them. A probe resolves with true where the answer is
// one that a working part gives, and never rejects.
import { connect } from 'node:net'
import { sleep } from '#base/clock.ts'
import { request } from '#base/node-http.ts'

const PROBE_MS_MAX = 5000
/** A connection that was lost once says little. */
const AGAIN_MS = 500
/** The request for TLS in the protocol of PostgreSQL 16: length 8, then 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]'])

export type Address = { readonly host: string; readonly port: number }
export type AddressProbe = (signal: AbortSignal) => Promise<boolean>

/** A server that listens on all addresses answers on loopback. */
export const reachable = (host: string): string => (WILDCARDS.has(host) ? '127.0.0.1' : host)

/** A probe that succeeds when `isGood` accepts the HTTP status of the answer. */
export const httpProbe = (
  address: Address,
  {
    path,
    host = 'localhost',
    isGood,
  }: { path: string; host?: string; isGood: (status: number) => boolean },
): AddressProbe =>
  twice(
    (signal) =>
      new Promise((resolve) => {
        const sent = request({ ...address, path, signal, agent: false, headers: { host } })
        sent.once('error', () => resolve(false))
        sent.once('response', (response) => {
          response.destroy()
          resolve(isGood(response.statusCode ?? 0))
        })
        sent.end()
      }),
  )

/** A PostgreSQL endpoint takes connections, and encrypts them. */
export const postgresProbe = ({ host, port }: Address): AddressProbe =>
  twice(
    (signal) =>
      new Promise((resolve) => {
        const socket = connect({ host, port, signal })
        socket.once('error', () => resolve(false))
        socket.once('close', () => resolve(false))
        socket.once('connect', () => socket.write(SSL_REQUEST))
        socket.once('data', (bytes) => {
          resolve(bytes[0] === 'S'.charCodeAt(0))
          socket.destroy()
        })
      }),
  )

const twice =
  (once: AddressProbe): AddressProbe =>
  async (signal) => {
    const limited = () => once(AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]))
    if (await limited()) return true
    await sleep(AGAIN_MS, signal).catch(() => undefined)
    return signal.aborted ? false : await limited()
  }
