// A bundle: old charges of one account in the order of their numbers, as columns. Their bytes come back as they were, to
// the bit, because the log holds their hashes. The random parts of a charge (its id and its salt, 26 bytes) are most
// of its share.
import { zstdDecompressSync } from 'node:zlib'
import { crc32c } from '#base/crc32c.ts'
import { present } from '#base/errors.ts'
import { DERIVED } from './derived.ts'
import {
  compressed,
  readColumn,
  writeColumn,
  type ReadColumn,
  type WrittenColumn,
} from './forms.ts'
import { shapeOf, fillShape, type TextShape } from './shape.ts'
import { ByteReader, ByteWriter } from './varints.ts'

export type BundledLeaf = { readonly leafIndex: number; readonly bytes: Uint8Array }

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

type Aligned = (string | undefined)[]

/** Bundles charges of one account, the oldest first. */
export function writeBundle(leaves: readonly BundledLeaf[]): Buffer {
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

// A stored value of a derived column has a mark. Without it an empty text would mean that the value is to be derived.
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

/** A bundle that is read. A column is decompressed when it is first asked for. */
export class Bundle {
  readonly count: number
  readonly #shapes: readonly TextShape[]
  readonly #stored = new Map<string, WrittenColumn>()
  readonly #shapeNumbers: Uint32Array
  readonly #leaves: ReadColumn
  readonly #columns = new Map<string, PresentColumn>()

  /** Throws RangeError when the bytes are not those that writeBundle() gave. */
  constructor(body: Buffer) {
    if (body.length < CRC_BYTES || crc32c(body.subarray(CRC_BYTES)) !== body.readUInt32BE(0))
      throw new RangeError('The checksum of a bundle is another')
    const from = new ByteReader(body.subarray(CRC_BYTES))
    const version = from.varint()
    if (version !== VERSION) throw new RangeError(`A bundle has an unknown version: ${version}`)
    const isCompressed = from.varint() === 1
    const text = from.bytes(from.varint())
    const head = JSON.parse(String(isCompressed ? zstdDecompressSync(text) : text)) as Head
    this.count = head.count
    this.#shapes = head.shapes
    const columns = head.columns.map(([name, form, compressed, size]) => {
      return { name, form, isCompressed: compressed === 1, bytes: from.bytes(size) }
    })
    const [shapes, leaves, ...others] = columns
    const numbers = readColumn(present(shapes, 'a bundle has no shapes'), head.count)
    this.#shapeNumbers = new Uint32Array(head.count)
    for (let nth = 0; nth < head.count; nth++) this.#shapeNumbers[nth] = Number(numbers.at(nth))
    this.#leaves = readColumn(present(leaves, 'a bundle has no leaves'), head.count)
    for (const column of others) this.#stored.set(column.name, column)
  }

  /** The bytes of a charge, as they are in the log. */
  bytes(nth: number): Buffer {
    return Buffer.from(
      fillShape(this.#shapeOf(nth), (name) => this.#column(name).at(nth)),
      'latin1',
    )
  }

  leafIndex(nth: number): number {
    return Number(this.#leaves.at(nth))
  }

  /** A value of a charge by its key; undefined where the charge has none. */
  value(name: string, nth: number): string | undefined {
    const raw = this.#column(name).at(nth)
    if (raw === undefined || PLAIN.test(raw)) return raw
    return JSON.parse(`"${Buffer.from(raw, 'latin1').toString('utf8')}"`) as string
  }

  /** The place of the charge with an id. */
  find(id: string): number | undefined {
    const nth = this.#column('id').find(id)
    return nth < 0 ? undefined : nth
  }

  #shapeOf(nth: number): TextShape {
    return present(this.#shapes[this.#shapeNumbers[nth] ?? -1], 'a bundle has fewer charges')
  }

  #column(name: string): PresentColumn {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    const column = this.#read(name)
    this.#columns.set(name, column)
    return column
  }

  #read(name: string): PresentColumn {
    const stored = this.#stored.get(name)
    if (stored === undefined) return NO_COLUMN
    const { places, count } = this.#placesOf(name)
    const { at, find } = readColumn(stored, count)
    const derive = DERIVED[name]
    // Derived values follow from each other: the price and the carbon both ask for the energy.
    const derived: (string | undefined)[] = []
    const valueAt = (place: number, nth: number) => {
      const value = at(place)
      if (derive === undefined) return value
      if (value !== '') return value.slice(1)
      return (derived[nth] ??= derive((other) => this.#column(other).at(nth)))
    }
    return {
      at(nth) {
        const place = places[nth] ?? -1
        return place < 0 ? undefined : valueAt(place, nth)
      },
      find(value) {
        const place = find(value)
        return place < 0 ? -1 : places.indexOf(place)
      },
    }
  }

  /** The places of the charges in a column, negative of those without the key; and how many have it. */
  #placesOf(name: string): { readonly places: Int32Array; readonly count: number } {
    const has = this.#shapes.map(({ names }) => names.includes(name))
    const places = new Int32Array(this.count)
    let count = 0
    for (let nth = 0; nth < places.length; nth++)
      places[nth] = has[this.#shapeNumbers[nth] ?? -1] === true ? count++ : -1
    return { places, count }
  }
}

/** A column by the places of its charges in the bundle. Charges without the key have no place in it. */
type PresentColumn = {
  readonly at: (nth: number) => string | undefined
  /** The first charge with a stored value, of a column that is not derived. */
  readonly find: (value: string) => number
}
const NO_COLUMN: PresentColumn = { at: () => undefined, find: () => -1 }

const PLAIN = /^[ !#-[\]-~]*$/
