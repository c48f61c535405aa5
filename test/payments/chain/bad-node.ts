// A node that is not as it should be: a proxy before a chain that spoils the answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** The path that the address of every node has: a secret. */
export const NODE_KEY = 'key-of-a-node-in-tests'

type Question = { readonly method: string; readonly params: readonly unknown[] }
export type Block = { readonly number: string } & Record<string, unknown>
type Result = Record<string, unknown> | string | null
/** Another answer than the chain's; undefined: none at all. */
export type Spoil = (result: Result, question: Question) => unknown

/** The address of a node that answers as `spoil` says, or with these bytes and status. */
export async function badNode(
  url: string,
  how: { readonly spoil?: Spoil; readonly status?: number; readonly bytes?: string },
): Promise<string> {
  const { spoil = (result) => result, status = 200, bytes } = how
  const server = createServer(async (request, response) => {
    const question = (await json(request)) as Question
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
    })
    const { result, error } = (await answer.json()) as { result: Result; error?: object }
    const spoilt = spoil(result, question)
    // It hangs.
    if (spoilt === undefined) return
    response.writeHead(status, { 'content-type': 'application/json', location: url })
    response.end(
      bytes ??
        JSON.stringify({ jsonrpc: '2.0', id: 1, ...(error ? { error } : { result: spoilt }) }),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/${NODE_KEY}`
}

/** A node that has seen nothing above a block. */
export const behind =
  (head: bigint): Spoil =>
  (result, { method, params }) => {
    const number =
      typeof result === 'object' ? (result?.['blockNumber'] ?? result?.['number']) : undefined
    const isNewer = typeof number === 'string' && BigInt(number) > head
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
      return { ...(result as Block), number: `0x${head.toString(16)}` }
    if (Array.isArray(result))
      return result.filter((log: { blockNumber: string }) => BigInt(log.blockNumber) <= head)
    return isNewer ? null : result
  }
