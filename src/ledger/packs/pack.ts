// A pack: old charges of one account in the order of their numbers, as columns. Their bytes come back as they were, to
// the bit, because the log holds their hashes. The random parts of a charge (its id and its salt, 26 bytes) are most
// of its share.
import { zstdDecompressSync } from 'node:zlib'
import { crc32c } from '#base/crc32c.ts'
import { present } from '#base/errors.ts'
import { DERIVED } from './derived.ts'
import { compressed, readColumn, writeColumn, type WrittenColumn } from './forms.ts'
import { shapeOf, fillShape, type TextShape } from './shape.ts'
import { ByteReader, ByteWriter } from './varints.ts'

export type PackedLeaf = { readonly leafIndex: number; readonly bytes: Uint8Array }

const VERSION = 1
const CRC_BYTES = 4

/** The name, the form, whether it is compressed, the number of bytes. */
type ColumnEntry = readonly [name: string, form: number, isCompressed: 0 | 1, size: number]
/** The first two columns are the number of the shape and the leaf of each charge. */
type Head = {
  readonly count: number
  readonly shapes: readonly TextShape[]
  readonly columns: readonly ColumnEntry[]
}
const OWN_COLUMNS = 2

type Aligned = (string | undefined)[]

/** Packs charges of one account, the oldest first. */
export function writePack(leaves: readonly PackedLeaf[]): Buffer {
  const shapes = new Map<string, TextShape & { readonly number: number }>()
  const aligned = new Map<string, Aligned>()
  const numbers = leaves.map(({ bytes }, nth) => {
    const { pieces, names, values } = shapeOf(latin1Of(bytes))
    const key = pieces.join('\u0100')
    const shape = shapes.get(key) ?? { pieces, names, number: shapes.size }
    shapes.set(key, shape)
    for (const [place, name] of names.entries()) {
      const column: Aligned = aligned.get(name) ?? []
      aligned.set(name, column)
      column[nth] = values[place]
    }
    return String(shape.number)
  })
  const own = [numbers, leaves.map(({ leafIndex }) => String(leafIndex))]
  const written: [string, WrittenColumn][] = own.map((column) => ['', writeColumn(column)])
  for (const [name, column] of aligned) {
    const stored = exceptions(name, column, (other, nth) => aligned.get(other)?.[nth])
    written.push([name, writeColumn(stored)])
  }
  const head: Head = {
    count: leaves.length,
    shapes: [...shapes.values()].map(({ pieces, names }) => ({ pieces, names })),
    columns: written.map(([name, { form, isCompressed, bytes }]) => [
      name,
      form,
      isCompressed ? 1 : 0,
      bytes.length,
    ]),
  }
  return assemble(
    head,
    written.map(([, { bytes }]) => bytes),
  )
}

/** The present values of a column; '' in place of one that follows from others. */
function exceptions(
  name: string,
  column: Aligned,
  valueAt: (name: string, nth: number) => string | undefined,
): string[] {
  const derive = DERIVED[name]
  const stored: string[] = []
  for (const [nth, value] of column.entries())
    if (value !== undefined)
      stored.push(derive?.((other) => valueAt(other, nth)) === value ? '' : mark(name, value))
  return stored
}

// A value of a derived column that is stored has a mark, so that an empty one is not taken for one that follows.
const mark = (name: string, value: string) => (name in DERIVED ? `=${value}` : value)

function assemble(head: Head, columns: readonly Buffer[]): Buffer {
  const text = compressed(Buffer.from(JSON.stringify(head)))
  const out = new ByteWriter()
  out.varint(VERSION)
  out.varint(text.isCompressed ? 1 : 0)
  out.varint(text.bytes.length)
  out.bytes(text.bytes)
  for (const column of columns) out.bytes(column)
  const body = out.done()
  const crc = Buffer.alloc(CRC_BYTES)
  crc.writeUInt32BE(crc32c(body))
  return Buffer.concat([crc, body])
}

const latin1Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** A pack that is read. A column is decompressed when it is first asked for. */
export class Pack {
  readonly count: number
  readonly #shapes: readonly TextShape[]
  readonly #stored = new Map<string, WrittenColumn>()
  readonly #shapeOf: readonly TextShape[]
  readonly #leaves: readonly string[]
  readonly #columns = new Map<string, Aligned>()

  /** Throws RangeError when the bytes are not those that writePack() gave. */
  constructor(body: Buffer) {
    if (body.length < CRC_BYTES || crc32c(body.subarray(CRC_BYTES)) !== body.readUInt32BE(0))
      throw new RangeError('The checksum of a pack is another')
    const from = new ByteReader(body.subarray(CRC_BYTES))
    const version = from.varint()
    if (version !== VERSION) throw new RangeError(`A pack has an unknown version: ${version}`)
    const isCompressed = from.varint() === 1
    const text = from.bytes(from.varint())
    const head = JSON.parse(String(isCompressed ? zstdDecompressSync(text) : text)) as Head
    this.count = head.count
    this.#shapes = head.shapes
    const own: string[][] = []
    for (const [name, form, packed, size] of head.columns) {
      const column = { form, isCompressed: packed === 1, bytes: from.bytes(size) }
      if (own.length < OWN_COLUMNS) own.push(readColumn(column, head.count))
      else this.#stored.set(name, column)
    }
    this.#shapeOf = (own[0] ?? []).map((number) =>
      present(this.#shapes[Number(number)], 'a charge of a pack has no shape'),
    )
    this.#leaves = own[1] ?? []
  }

  /** The bytes of a charge, as they are in the log. */
  bytes(nth: number): Buffer {
    const shape = present(this.#shapeOf[nth], 'a pack has fewer charges')
    return Buffer.from(
      fillShape(shape, (name) => this.#column(name)[nth]),
      'latin1',
    )
  }

  leafIndex(nth: number): number {
    return Number(this.#leaves[nth])
  }

  /** A value of a charge by its key; undefined where the charge has none. */
  value(name: string, nth: number): string | undefined {
    const raw = this.#column(name)[nth]
    if (raw === undefined || PLAIN.test(raw)) return raw
    return JSON.parse(`"${Buffer.from(raw, 'latin1').toString('utf8')}"`) as string
  }

  /** The place of the charge with an id. */
  find(id: string): number | undefined {
    const nth = this.#column('id').indexOf(id)
    return nth < 0 ? undefined : nth
  }

  #column(name: string): Aligned {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    const column = this.#read(name)
    this.#columns.set(name, column)
    return column
  }

  #read(name: string): Aligned {
    const stored = this.#stored.get(name)
    if (stored === undefined) return []
    const has = new Map(this.#shapes.map((shape) => [shape, shape.names.includes(name)]))
    const present_ = this.#shapeOf.map((shape) => has.get(shape) === true)
    const values = readColumn(stored, present_.filter(Boolean).length).values()
    const derive = DERIVED[name]
    return present_.map((isPresent, nth) => {
      if (!isPresent) return undefined
      const value = values.next().value ?? ''
      if (derive === undefined) return value
      return value === '' ? derive((other) => this.#column(other)[nth]) : value.slice(1)
    })
  }
}

const PLAIN = /^[ !#-[\]-~]*$/
