// A description file as plain data: the resources that it asks for, each after those that it needs. A plan compares
// them with the existing ones; an application reads the file again with the attributes that have become known.
import type { HclDiagnostic } from '#hcl/diagnostics.ts'
import type { HclFunction } from '#hcl/functions/function.ts'
import type { ParsedFile } from '#hcl/syntax/parse-body.ts'
import type { SourceText, TextRange } from '#hcl/source-text.ts'
import type { ResourceTypeName, SpecOfType } from './resource-types.ts'

export type StackResource = {
  [Type in ResourceTypeName]: {
    /** workload.api */
    readonly address: string
    readonly type: Type
    readonly name: string
    /** The head of its block. */
    readonly range: TextRange
    /** Addresses of resources that must be there before it. */
    readonly needs: readonly string[]
    readonly spec: SpecOfType<Type>
  }
}[ResourceTypeName]

export type StackOutput = {
  readonly name: string
  readonly description: string
  /** JSON data; a number that JavaScript cannot hold is a text. */
  readonly value: unknown
}

export type ResourceStack = {
  readonly resources: readonly StackResource[]
  readonly outputs: readonly StackOutput[]
}

export type StackOptions = {
  readonly source: SourceText
  /** Of the source, where it is read more than once. */
  readonly parsed?: ParsedFile
  /** Texts by the names of variables. */
  readonly variables?: ReadonlyMap<string, string>
  /** Attributes that have become known, by address: workload.api → { url }. */
  readonly known?: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Sensitive variables have their values, in an application. */
  readonly isRevealed?: boolean
  /** Functions of the caller, such as file(). */
  readonly functions?: ReadonlyMap<string, HclFunction>
}

/** Without diagnostics the stack is whole; with them it has the readable part. */
export type DescribedStack = {
  readonly stack: ResourceStack
  readonly diagnostics: readonly HclDiagnostic[]
}

export const RESOURCES_MAX = 200
