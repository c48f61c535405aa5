// The S3 store of storage-move.test.ts: the gateway of an Ergon, a whole one where no server may be started by the test
// itself, or a server of others (ERGON_TEST_STORE).
import assert from 'node:assert/strict'
import { whyNoServer } from '#postgres/testing.ts'
import { openWorld } from '../durability/world.ts'
import { childrenOf } from '../faults/processes.ts'
import { GO_PEERS, startS3Peer } from '../s3-peers.ts'
import { startErgon } from '../start-ergon.ts'

/** The store: how it is reached, and the processes that answer. */
export type Store = {
  readonly url: string
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** The stores that answer; stopped, it takes connections and says nothing. */
  pids(): Promise<number[]>
  answers(): Promise<boolean>
  stop(): Promise<void>
}

const keyOf = ({ token }: { readonly token: string }) => ({
  accessKeyId: token,
  secretAccessKey: token,
})

/** Starts the one that ERGON_TEST_STORE names, or ours; to be stopped. */
export async function startStore(): Promise<Store> {
  const name = process.env['ERGON_TEST_STORE']
  if (name !== undefined) {
    const program = GO_PEERS[name]
    assert.ok(program, `ERGON_TEST_STORE is one of ${Object.keys(GO_PEERS).join(', ')}`)
    const { url, keys, pid, close } = await startS3Peer(name, program)
    return {
      url,
      key: { accessKeyId: keys.id, secretAccessKey: keys.secret },
      pids: async () => [pid],
      answers: () =>
        fetch(url, { signal: AbortSignal.timeout(1000) }).then(
          () => true,
          () => false,
        ),
      stop: close,
    }
  }
  return whyNoServer() === false ? await startGatewayStore() : await startErgonStore()
}

/** The gateway's object store, and nothing else of an Ergon. */
async function startGatewayStore(): Promise<Store> {
  const world = await openWorld()
  const gateway = await world.gateway()
  const url = `http://127.0.0.1:${gateway.port}`
  return {
    url,
    key: keyOf(world),
    pids: async () => [gateway.pid],
    answers: async () => (await fetch(`${url}/readyz`)).ok,
    async stop() {
      await gateway.stop()
      await world[Symbol.asyncDispose]()
    },
  }
}

async function startErgonStore(): Promise<Store> {
  const ergon = await startErgon()
  return {
    url: ergon.baseUrl,
    key: keyOf(ergon),
    async pids() {
      const gateway = await ergon.pidOf('gw-1')
      const children = childrenOf(gateway)
      return [gateway, ...children, ...children.flatMap(childrenOf)]
    },
    answers: async () => (await fetch(`${ergon.baseUrl}/readyz`)).ok,
    stop: () => ergon.stop(),
  }
}
