// Files of bodies during reads: a caller that leaves, at any time, leaves none of them open.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { readyProgramOf } from '../faults/processes.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-handles'
/** Each of the ways below eight times. */
const TIMES = 96
const WAIT_MS = 30_000
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const socketBytesMax = (side: 'rmem' | 'wmem') =>
  Number(readFileSync(`/proc/sys/net/ipv4/tcp_${side}`, 'utf8').trim().split(/\s+/)[2])

/** The file of a body; its prefix depends on the reader's file system. */
const BODY = /\/[0-9a-f]{2}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Files of bodies that a process has open. */
function openBodies(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((handle) => {
    try {
      const path = readlinkSync(`${folder}/${handle}`)
      return BODY.test(path) ? [path] : []
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

async function untilOpen(pid: number, isEnough: (count: number) => boolean): Promise<number> {
  for (const deadline = performance.now() + WAIT_MS; ; await pause(10)) {
    const count = openBodies(pid).length
    if (isEnough(count)) return count
    assert.ok(performance.now() < deadline, `${count} bodies are open`)
  }
}

/** Sends a request and reads nothing of its answer. */
async function ask(method: string, key: string, headers: readonly string[] = []) {
  const { port, hostname } = new URL(ergon.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = [
    `${method} /${Bucket}/${key} HTTP/1.1`,
    `Host: localhost:${port}`,
    `Authorization: Bearer ${ergon.token}`,
    ...headers,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return socket
}

test('a body whose reader goes away is closed, whenever that is', async () => {
  const put = (Key: string, bytes: number) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(bytes, 'body ') }))
  const { ETag = '' } = await put('body', 4 * MIB)
  // More than what the kernel takes for both sides of a connection.
  await put('large', socketBytesMax('rmem') + socketBytesMax('wmem') + 4 * MIB)
  const pid = await readyProgramOf(ergon, 'gw-1')
  assert.equal(openBodies(pid).length, 0)
  // Nobody reads: the body stays open for as long as the connection does.
  const readers = await Promise.all(Array.from({ length: 4 }, () => ask('GET', 'large')))
  await untilOpen(pid, (count) => count === readers.length)
  for (const socket of readers) socket.destroy()
  await untilOpen(pid, (count) => count === 0)

  let most = 0
  for (let time = 0; time < TIMES; time++) {
    const socket = await ask('GET', 'body', time % 3 === 0 ? ['Range: bytes=1000-3000000'] : [])
    // Before the answer begins, at its head, and within its body.
    if (time % 4 === 1) await once(socket, 'readable')
    if (time % 4 === 2) await once(socket.resume(), 'data')
    if (time % 4 === 3) setImmediate(() => socket.destroy())
    else socket.destroy()
    most = Math.max(most, openBodies(pid).length)
  }
  assert.ok(most > 0, 'no body was ever seen open')
  await untilOpen(pid, (count) => count === 0)

  // Neither has a body to read.
  const answers = [
    ...(await Promise.all(Array.from({ length: 20 }, () => ask('HEAD', 'body')))),
    ...(await Promise.all(
      Array.from({ length: 20 }, () => ask('GET', 'body', [`If-None-Match: ${ETag}`])),
    )),
  ]
  for (const socket of answers) await once(socket, 'readable')
  assert.equal(openBodies(pid).length, 0)
  for (const socket of answers) socket.destroy()
})
