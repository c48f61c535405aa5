// One node of a chain, asked by JSON-RPC (https://ethereum.org/en/developers/docs/apis/json-rpc/). A node may be wrong,
// behind or away; what several of them say is weighed in inspect-chain.ts.
import type { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { askJson } from './ask-json.ts'

const TIMEOUT_MS = 8000

export type RpcNode = {
  /** `eip155:8453 node 1`: its address is a secret. */
  readonly name: string
  /** Throws payment_processor_away. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
}

type RpcAnswer = { readonly result?: unknown; readonly error?: { readonly code?: unknown } }

export const openNode = (address: Secret, name: string): RpcNode => ({
  name,
  async call(method, params, signal) {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const what = `${name} for ${method}`
    const { status, json } = await askJson(address, { what, body, timeoutMs: TIMEOUT_MS, signal })
    const { result, error } = (json ?? {}) as RpcAnswer
    if (status !== 200 || error != null || result === undefined)
      throw nodeFault(what, error == null ? `status ${status}` : `error ${String(error.code)}`)
    return result
  },
})

export const nodeFault = (what: string, reason: string) =>
  fault('payment_processor_away', `Could not ask ${what}: ${reason}`)

/** A field of an object that is a hexadecimal quantity, data or hash. Throws payment_processor_away. */
export function hexOf(value: unknown, field: string): string {
  const hex = (value as Readonly<Record<string, unknown>> | null)?.[field]
  if (typeof hex !== 'string' || !/^0x[0-9a-f]*$/i.test(hex))
    throw nodeFault('a node', `no ${field} in hexadecimal`)
  return hex.toLowerCase()
}

export const quantityOf = (value: unknown, field: string): bigint => {
  const hex = hexOf(value, field)
  return hex === '0x' ? 0n : BigInt(hex)
}
