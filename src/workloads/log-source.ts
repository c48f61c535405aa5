// The writer of a line in the log of a workload: `3.2` is the second instance of version 3.

type Writer = { readonly version: number; readonly instance: number }

export const sourceOf = ({ version, instance }: Writer): string => `${version}.${instance}`

/** The source of a log, from the name of the instance's cell. */
export function sourceOfCell(cell: string): string {
  const [version, instance] = cell.split('-').slice(-2)
  return sourceOf({ version: Number(version), instance: Number(instance) })
}

/** Lines of earlier releases name the version alone. */
export function writerOf(source: string): Writer {
  const [version, instance = '1'] = source.split('.')
  return { version: Number(version), instance: Number(instance) }
}
