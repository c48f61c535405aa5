// Requests in JSON to services that the operator configured. An address may have a key in it, so errors and logs have
// neither an address nor what the service wrote.
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'

const BYTES_MAX = 1_048_576

export type JsonAnswer = { readonly status: number; readonly json: unknown }

/** Follows no redirect. Throws payment_processor_away where there is no JSON in time. */
export async function askJson(
  address: Secret,
  question: {
    readonly what: string
    readonly path?: string
    /** Asked by GET where there is none. */
    readonly body?: unknown
    readonly key?: Secret | undefined
    readonly timeoutMs: number
    readonly signal: AbortSignal
  },
): Promise<JsonAnswer> {
  const { what, path = '', body, key, timeoutMs, signal } = question
  try {
    const { request } = await import('undici')
    const { statusCode: status, body: answer } = await request(address.reveal() + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key.reveal()}` }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    return { status, json: JSON.parse(await textOf(answer)) as unknown }
  } catch (error) {
    signal.throwIfAborted()
    throw fault('payment_processor_away', `Could not ask ${what}: ${reasonOf(error)}`)
  }
}

async function textOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer) {
    length += chunk.length
    if (length > BYTES_MAX) throw new RangeError('too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** A code or a name: messages may quote the address or the answer. */
const reasonOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : String(name)
}
