// ergon db clone: a restore of now.
import type { CommandCall } from '#cli/call.ts'
import { makeFrom } from '#cli/restores.ts'

export const run = ({ options, words: [database = '', name = ''] }: CommandCall): Promise<void> =>
  makeFrom(options, { name, from: { database } })
