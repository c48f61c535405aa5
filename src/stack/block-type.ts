// The schema of a block as data, and the type of its values.
import type { Pending, StackField } from './field.ts'

/** The words after the type of a block: a name or a hostname. */
export type LabelRule = {
  /** Completes "Expected …". */
  readonly expected: string
  readonly isValid: (text: string) => boolean
}

/** Text alone is a fault of the block itself. */
type BlockMisfit = string | { readonly text: string; readonly block: string; readonly nth: number }

export type BlockType = {
  readonly help: string
  readonly label?: LabelRule
  /** The most blocks of this type within a parent block. With 1 the value is an object, otherwise a list. */
  readonly countMax?: number
  readonly attributes: Readonly<Record<string, StackField>>
  readonly blocks?: Readonly<Record<string, BlockType>>
  /** The fault of attributes or blocks that do not go together, which may be one of its blocks. */
  readonly check?: (spec: Readonly<Record<string, unknown>>) => BlockMisfit | undefined
}

export type ResourceType = BlockType & {
  readonly label: LabelRule
  /** Attributes that other blocks can refer to, beside its name, with their help. Known when the resource is made. */
  readonly outputs: Readonly<Record<string, string>>
}

type ValueOf<Field> = Field extends StackField<infer T> ? T | Pending : never
type FieldValuesOf<Fields> = {
  readonly [
    Name in keyof Fields as Fields[Name] extends { isRequired: true } ? Name : never
  ]: ValueOf<Fields[Name]>
} & {
  readonly [
    Name in keyof Fields as Fields[Name] extends { isRequired: true } ? never : Name
  ]?: ValueOf<Fields[Name]>
}
type LabelOf<Block> = Block extends { label: LabelRule } ? { readonly name: string } : object
type InnerOf<Block> = Block extends { countMax: 1 } ? SpecOf<Block> : readonly SpecOf<Block>[]
type BlocksOf<Block> = Block extends { blocks: infer Blocks }
  ? { readonly [Name in keyof Blocks]?: InnerOf<Blocks[Name]> }
  : object

/** The content of a block of the type: its attributes by their names, and its blocks. */
export type SpecOf<Block> = Block extends { attributes: infer Fields }
  ? LabelOf<Block> & FieldValuesOf<Fields> & BlocksOf<Block>
  : never
