// CRC-64/NVME in WebAssembly, assembled here: eight bytes per look-up ("slicing by 8"), in four lanes of a block at
// once. A single chain of look-ups would wait for the cache at every step: 0.9 GB/s in hash-wasm, 1.9 here. The state
// is a number outside, so one instance serves all bodies.
import { present } from '#base/errors.ts'
import { FIELDS, multiplyModulo, powerOfX } from './crc-fields.ts'

const FIELD = FIELDS.CRC64NVME
const MASK = 0xffff_ffff_ffff_ffffn

const LANES = 4
const LANE_BYTES = 1024
const BLOCK_BYTES = LANES * LANE_BYTES
/** 8 times 256 entries of 8 bytes. */
const TABLE_BYTES = 8 * 256 * 8
/** Memory: the tables (8 bytes further, and a lane further), then the bytes. */
const NEXT = 0
const SKIP = TABLE_BYTES
const BYTES = 2 * TABLE_BYTES
const PAGE_BYTES = 65_536
/** Bytes copied in at a time; with the tables they stay in the core's cache. */
const ROOM_BYTES = 3 * PAGE_BYTES - BYTES

/** The used part of WebAssembly, which the types of Node leave to browsers. */
type Memory = { readonly buffer: ArrayBuffer }
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => Memory
  Module: new (program: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

type Machine = {
  readonly bytes: Uint8Array
  /** The CRC after `count` whole blocks at an address, or after `count` bytes. */
  readonly blocks: (crc: bigint, at: number, blocks: number) => bigint
  readonly rest: (crc: bigint, at: number, bytes: number) => bigint
}

/** A running checksum; its bytes are in network order. */
export type Crc64 = { update(bytes: Uint8Array): void; digest(): Buffer }

/** Makes checksums of CRC-64/NVME; check value ae8b14860a799888. */
export function createCrc64(): () => Crc64 {
  const machine = assemble()
  return () => {
    let crc = MASK
    return {
      update(bytes) {
        for (let at = 0; at < bytes.length; at += ROOM_BYTES)
          crc = after(machine, crc, bytes.subarray(at, at + ROOM_BYTES))
      },
      digest() {
        const out = Buffer.alloc(8)
        out.writeBigUInt64BE(crc ^ MASK)
        return out
      },
    }
  }
}

function after({ bytes: memory, blocks, rest }: Machine, crc: bigint, bytes: Uint8Array): bigint {
  memory.set(bytes, BYTES)
  const whole = Math.floor(bytes.length / BLOCK_BYTES)
  const left = bytes.length - whole * BLOCK_BYTES
  let next = crc
  if (whole > 0) next = blocks(next, BYTES, whole)
  if (left > 0) next = rest(next, BYTES + whole * BLOCK_BYTES, left)
  return BigInt.asUintN(64, next)
}

function assemble(): Machine {
  const memory = new WebAssembly.Memory({ initial: 3, maximum: 3 })
  fillTable(memory, NEXT, 64)
  fillTable(memory, SKIP, LANE_BYTES * 8)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program()), {
    '': { memory },
  })
  return { bytes: new Uint8Array(memory.buffer), ...(exports as Pick<Machine, 'blocks' | 'rest'>) }
}

/** `table[k][b]`: the value of byte b at position k, followed by `bits` zero bits. */
function fillTable(memory: Memory, at: number, bits: number): void {
  const table = new BigUint64Array(memory.buffer, at, 8 * 256)
  const power = powerOfX(FIELD, BigInt(bits))
  for (let bit = 0; bit < 64; bit++) {
    const one = multiplyModulo(FIELD, 1n << BigInt(bit), power)
    const of = (bit >> 3) * 256
    const low = 1 << (bit & 7)
    // A table is linear: entries with this bit follow from the entries below.
    for (let b = 0; b < low; b++)
      table[of + low + b] = present(table[of + b], 'an entry below') ^ one
  }
}

/* WebAssembly: the opcodes of the core specification, §5.4, and numbers as LEB128. */

const I32 = 0x7f
const I64 = 0x7e
const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const tee = (local: number) => [0x22, local]
const load64 = (offset: number) => [0x29, 3, ...unsigned(offset)]
const load8 = (offset: number) => [0x31, 0, ...unsigned(offset)]
const i32 = (value: number) => [0x41, ...signed(value)]
const i64 = (value: number) => [0x42, ...signed(value)]
const [ADD, SUB, AND] = [[0x6a], [0x6b], [0x71]] as const
const [SHIFT_LEFT, SHIFT_RIGHT] = [[0x74], [0x76]] as const
const [AND_64, XOR_64, SHIFT_RIGHT_64, WRAP] = [[0x83], [0x85], [0x88], [0xa7]] as const
/** A loop that ends when its condition is 0. */
const loop = (body: readonly number[]) => [0x03, 0x40, ...body, 0x0d, 0, 0x0b]
/** A block that runs if the top of the stack is not 0. */
const when = (body: readonly number[]) => [0x04, 0x40, ...body, 0x0b]

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}
function signed(value: number): number[] {
  const isLast = value >= -64 && value < 64
  return isLast ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)]
}

/** Looks up the eight bytes of a local in the tables. */
function lookUp(table: number, state: number): number[] {
  const code: number[] = []
  for (let k = 0; k < 8; k++) {
    const shift = 8 * k - 3
    code.push(...get(state))
    // Times 8, the size of an entry.
    if (shift < 0) code.push(...WRAP, ...i32(-shift), ...SHIFT_LEFT)
    else code.push(...i64(shift), ...SHIFT_RIGHT_64, ...WRAP)
    code.push(...i32(0x7f8), ...AND, ...load64(table + k * 2048))
    if (k > 0) code.push(...XOR_64)
  }
  return code
}

const [CRC, AT, COUNT] = [0, 1, 2] as const

/** blocks(crc, at, count): the lanes in parallel, then joined in order. */
function blocksCode(): number[] {
  const lane = (k: number) => (k === 0 ? CRC : 3 + k)
  const LEFT = 3
  const step: number[] = []
  const lanes = Array.from({ length: LANES }, (_, k) => k)
  for (const k of lanes)
    step.push(...get(lane(k)), ...get(AT), ...load64(k * LANE_BYTES), ...XOR_64, ...set(lane(k)))
  for (const k of lanes) step.push(...lookUp(NEXT, lane(k)), ...set(lane(k)))
  step.push(...advance(AT, 8), ...countDown(LEFT))
  const block = [...i32(LANE_BYTES / 8), ...set(LEFT)]
  for (const k of lanes.slice(1)) block.push(...i64(0), ...set(lane(k)))
  block.push(...loop(step))
  for (const k of lanes.slice(1))
    block.push(...lookUp(SKIP, CRC), ...get(lane(k)), ...XOR_64, ...set(CRC))
  block.push(...advance(AT, BLOCK_BYTES - LANE_BYTES), ...countDown(COUNT))
  return [...loop(block), ...get(CRC)]
}

/** rest(crc, at, count): eight bytes at a time, then one. */
function restCode(): number[] {
  const LEFT = 3
  const words = [...get(CRC), ...get(AT), ...load64(0), ...XOR_64, ...set(CRC)]
  words.push(...lookUp(NEXT, CRC), ...set(CRC), ...advance(AT, 8), ...countDown(LEFT))
  // The last table is for the byte that leaves next.
  const byte = [...get(CRC), ...get(AT), ...load8(0), ...XOR_64, ...i64(0xff), ...AND_64, ...WRAP]
  byte.push(...i32(3), ...SHIFT_LEFT, ...load64(NEXT + 7 * 2048))
  byte.push(...get(CRC), ...i64(8), ...SHIFT_RIGHT_64, ...XOR_64, ...set(CRC))
  byte.push(...advance(AT, 1), ...countDown(LEFT))
  const code = [...get(COUNT), ...i32(3), ...SHIFT_RIGHT, ...tee(LEFT), ...when(loop(words))]
  code.push(...get(COUNT), ...i32(7), ...AND, ...tee(LEFT), ...when(loop(byte)))
  return [...code, ...get(CRC)]
}

const advance = (local: number, by: number) => [...get(local), ...i32(by), ...ADD, ...set(local)]
const countDown = (local: number) => [...get(local), ...i32(1), ...SUB, ...tee(local)]

const vector = (items: readonly (readonly number[])[]) => [
  ...unsigned(items.length),
  ...items.flat(),
]
const sized = (body: readonly number[]) => [...unsigned(body.length), ...body]
const text = (ascii: string) => sized([...Buffer.from(ascii)])
const section = (id: number, items: readonly (readonly number[])[]) => [id, ...sized(vector(items))]

/** "\0asm", version 1. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

function program(): Uint8Array<ArrayBuffer> {
  const type = [0x60, ...vector([[I64], [I32], [I32]]), ...vector([[I64]])]
  const locals = vector([
    [1, I32],
    [LANES - 1, I64],
  ])
  const code = [blocksCode(), restCode()].map((body) => sized([...locals, ...body, 0x0b]))
  return Uint8Array.from([
    ...MAGIC,
    ...section(1, [type]),
    ...section(2, [[...text(''), ...text('memory'), 2, 1, 3, 3]]),
    ...section(3, [[0], [0]]),
    ...section(7, [
      [...text('blocks'), 0, 0],
      [...text('rest'), 0, 1],
    ]),
    ...section(10, code),
  ])
}
