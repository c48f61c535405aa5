// A facilitator: that of @x402/core and @x402/evm, by HTTP, which tests can make lie, refuse or fall silent.
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { NETWORK, type TestChain } from './chain.ts'

export const FACILITATOR_KEY = 'key-of-the-facilitator-in-tests'
type Mode =
  | 'honest'
  | 'of another network'
  | 'lies'
  | 'silent'
  | 'hangs'
  | 'away'
  | 'refuses and settles'
type Signer = Parameters<typeof toFacilitatorEvmSigner>[0]
type Asked = { readonly paymentPayload: never; readonly paymentRequirements: never }

export type TestFacilitator = Awaited<ReturnType<typeof startFacilitator>>

export async function startFacilitator(chain: TestChain, port: number) {
  const { operator } = chain
  // Its types are looser than those of viem.
  const asSigner = { ...operator, address: operator.account.address } as unknown as Signer
  const signer = toFacilitatorEvmSigner(asSigner)
  const facilitator = new x402Facilitator().register(NETWORK, new ExactEvmScheme(signer))
  const settled: string[] = []
  const control = { mode: 'honest' as Mode, settled, asked: 0 }
  const answer = async (path: string, asked: Asked) => {
    const { paymentPayload: payload, paymentRequirements: requirements } = asked
    control.asked++
    if (path === '/verify') {
      if (control.mode === 'refuses and settles') {
        await facilitator.settle(payload, requirements)
        return { isValid: false, invalidReason: 'it_says' }
      }
      return await facilitator.verify(payload, requirements)
    }
    if (control.mode === 'lies')
      return { success: true, transaction: `0x${'ab'.repeat(32)}`, network: NETWORK }
    const done = await facilitator.settle(payload, requirements)
    settled.push(done.transaction)
    return done
  }
  const server = createServer(async (request: IncomingMessage, response) => {
    const isKnown = request.headers.authorization === `Bearer ${FACILITATOR_KEY}`
    const isAway = control.mode === 'away' || !isKnown
    if (request.url === '/supported') {
      const { kinds } = facilitator.getSupported()
      const isOther = control.mode === 'of another network'
      const told = kinds.map((kind) => (isOther ? { ...kind, network: 'eip155:1' } : kind))
      return void response.end(JSON.stringify({ kinds: isKnown ? told : [] }))
    }
    const body = isAway ? {} : await answer(request.url ?? '', (await json(request)) as Asked)
    // The settlement is done, and its answer is lost.
    if (request.url === '/settle' && control.mode === 'hangs') return
    if (request.url === '/settle' && control.mode === 'silent') return void response.destroy()
    response.writeHead(isAway ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  server.unref()
  return Object.assign(control, { url: `http://127.0.0.1:${port}` })
}
