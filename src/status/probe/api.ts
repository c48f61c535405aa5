// The API as the probe asks it: over TCP with a token, as a customer does, with the figures that each answer states.
import { request } from '#base/node-http.ts'
import { nj, pg, NJ_PER_J, type Nj, type Pg } from '#base/units.ts'

const ANSWER_MS_MAX = 30_000
const BYTES_MAX = 1024 * 1024

export type ApiRequest = {
  readonly method: string
  readonly path: string
  /** Sent as JSON, or as bytes. */
  readonly body?: object | Buffer
}
export type ProbeAnswer = {
  readonly status: number
  readonly text: string
  readonly energyNj: Nj
  readonly carbonPg: Pg
  readonly method: string
  readonly bandPct: number
  readonly routedTo: string
  readonly receipt: string
}
/** Resolves with any answer; rejects where there is none in time. */
export type Api = (asked: ApiRequest, signal: AbortSignal) => Promise<ProbeAnswer>

/** The API at an address of this node. */
export const createApi =
  (address: { readonly host: string; readonly port: number }, token: string): Api =>
  ({ method, path, body }, signal) => {
    const bytes =
      body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    const headers = {
      host: 'localhost',
      authorization: `Bearer ${token}`,
      ...(bytes !== undefined && {
        'content-length': bytes.length,
        'content-type': bytes === body ? 'application/octet-stream' : 'application/json',
      }),
    }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
    return new Promise((resolve, reject) => {
      const sent = request({ ...address, method, path, headers, agent: false, signal: limit })
      sent.once('error', reject)
      sent.once('response', (response) => {
        const parts: Buffer[] = []
        let length = 0
        response.on('error', reject)
        response.on('data', (part: Buffer) => {
          length += part.length
          if (length > BYTES_MAX) sent.destroy(new RangeError('an answer of more than 1 MiB'))
          else parts.push(part)
        })
        response.once('end', () =>
          resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(parts))),
        )
      })
      sent.end(bytes)
    })
  }

function answerOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  bytes: Buffer,
): ProbeAnswer {
  const text = (name: string) => String(headers[name] ?? '')
  const [method = '', band = ''] = text('x-energy-method').split('; band=')
  return {
    status,
    text: bytes.toString(),
    energyNj: nj(billionths(text('x-energy-joules'))),
    carbonPg: pg(billionths(text('x-carbon-mg'))),
    method,
    bandPct: Number.parseInt(band, 10) || 0,
    routedTo: text('x-routed-to'),
    receipt: text('x-receipt-id'),
  }
}

/** A decimal as the headers print it: nanojoules of joules, picograms of milligrams. */
export function billionths(text: string): bigint {
  const [, whole = '0', fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? []
  return BigInt(whole) * NJ_PER_J + BigInt(fraction.padEnd(9, '0'))
}
