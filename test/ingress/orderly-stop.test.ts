// An orderly stop of a running product: the ingress closes its port at once, requests that run are answered, and nothing of a
// stop is a warning.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { functionClient, until } from '../functions/function-client.ts'
import { startErgon } from '../start-ergon.ts'

const SLOW = `export default async ({ url }) => {
  if (url.endsWith('/slow')) await new Promise((resolve) => setTimeout(resolve, 3000))
  return new Response('answered')
}`

/** True where the port takes a connection. */
const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

test('an orderly stop closes the port of the ingress, answers its running requests and warns of nothing', async () => {
  await using ergon = await startErgon()
  const { deploy, textAt, url } = functionClient(() => ergon)
  const port = Number(new URL(url()).port)
  await deploy('lasting', SLOW)
  assert.deepEqual(await textAt('/lasting'), [200, 'answered'])
  const slow = textAt('/lasting/slow')
  // The function has the request.
  await until(
    () => textAt('/lasting'),
    ([status]) => status === 200,
  )
  const { length } = ergon.stderr()
  let isAnswered = false
  void slow.finally(() => (isAnswered = true)).catch(() => undefined)
  const stopped = ergon.stop()
  await until(
    () => isOpen(port),
    (open) => !open,
  )
  assert.equal(isAnswered, false, 'the port closes before its requests end')
  assert.deepEqual(await slow, [200, 'answered'])
  await stopped
  const lines = ergon.stderr().slice(length).split('\n')
  assert.deepEqual(
    lines.filter((line) => /"level":"(warn|error)"/.test(line)),
    [],
  )
})
