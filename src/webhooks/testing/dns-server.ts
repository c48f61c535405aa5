// A DNS server on loopback for tests of hostile names: A and AAAA records by a function, as a rebinding owner would answer.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const QR_AA_RD_RA = 0x8580
const [TYPE_A, TYPE_AAAA, CLASS_IN] = [1, 28, 1]
/** The name of the query, by its offset (RFC 1035 §4.1.4). */
const NAME_POINTER = 0xc00c
const HEADER_BYTES = 12

export interface DnsServer extends AsyncDisposable {
  /** For Resolver.setServers(). */
  readonly address: string
  /** Queries so far. */
  readonly asked: readonly string[]
}

/** `addressesOf` gives all addresses of a name, of both families; undefined is no answer at all. */
export async function startDns(
  addressesOf: (name: string) => readonly string[] | undefined,
): Promise<DnsServer> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query)
    const type = query.readUInt16BE(end)
    asked.push(name)
    const found = addressesOf(name)
    if (found === undefined) return
    const isSix = type === TYPE_AAAA
    const records = [TYPE_A, TYPE_AAAA].includes(type)
      ? found.filter((one) => one.includes(':') === isSix).map((one) => record(type, one))
      : []
    const head = Buffer.alloc(HEADER_BYTES)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(QR_AA_RD_RA, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    socket.send(
      Buffer.concat([head, query.subarray(HEADER_BYTES, end + 4), ...records]),
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function record(type: number, address: string): Buffer {
  const bytes = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : wordsOf(address)
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt16BE(NAME_POINTER, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(CLASS_IN, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, bytes])
}

/** The URL parser writes every form of an address alike: `[::ffff:7f00:2]`. */
function wordsOf(address: string): Buffer {
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number(`0x${word}`))
  const [first, last] = [words(head), words(tail ?? '')]
  const gap = tail === undefined ? 0 : 8 - first.length - last.length
  const bytes = Buffer.alloc(16)
  for (const [nth, word] of [...first, ...Array.from({ length: gap }, () => 0), ...last].entries())
    bytes.writeUInt16BE(word, nth * 2)
  return bytes
}
