// ergon artifacts verify: hashes every file again; a damaged artifact is removed and fetched anew when it is needed.
import { control } from '#cli/client.ts'
import { print, printJson } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name] }: CommandCall): Promise<void> {
  const call = { method: 'POST', path: '/artifacts/verify', body: { name } } as const
  const result = await control(options, call)
  if (options.json) return printJson(result)
  for (const one of result as { name: string; state: string }[]) print(`${one.name}  ${one.state}`)
}
