// The processor of this machine, from /proc/cpuinfo. Clouds rename models ("AMD EPYC", "Intel(R) Xeon(R) CPU
// @ 2.20GHz"), so that family, model and stepping tell more than the name.

export type CpuInfo = {
  readonly vendor: string
  readonly family: number
  readonly model: number
  readonly stepping: number
  readonly name: string
  /** Logical processors that the kernel schedules on. */
  readonly cpus: number
}

/** Parses the text of /proc/cpuinfo. ARM kernels print no vendor or name: both are then ''. */
export function parseCpuInfo(text: string): CpuInfo {
  const value = (key: string) =>
    new RegExp(`^${key}[ \\t]*:[ \\t]*(.*)$`, 'm').exec(text)?.[1]?.trim() ?? ''
  const integer = (key: string) => Number.parseInt(value(key), 10) || 0
  return {
    vendor: value('vendor_id'),
    family: integer('cpu family'),
    model: integer('model'),
    stepping: integer('stepping'),
    name: value('model name'),
    cpus: Math.max(1, text.match(/^processor[ \t]*:/gm)?.length ?? 0),
  }
}
