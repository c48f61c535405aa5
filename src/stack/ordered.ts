// Nodes in an order in which the needs of each come first; and the cycles, which have no such order.

export type Ordered = {
  readonly order: readonly string[]
  /** Each begins and ends with the same node: a, b, a. */
  readonly cycles: readonly (readonly string[])[]
}

/**
 * `needs` has every node; a need that is no node is left out. Equal ones keep the order of the map. The search does not
 * recurse.
 */
export function ordered(needs: ReadonlyMap<string, ReadonlySet<string>>): Ordered {
  const order: string[] = []
  const cycles: string[][] = []
  const state = new Map<string, 'open' | 'done'>()
  for (const root of needs.keys()) {
    const path: { node: string; left: string[] }[] = []
    const enter = (node: string) => {
      state.set(node, 'open')
      path.push({ node, left: [...(needs.get(node) ?? [])].filter((one) => needs.has(one)) })
    }
    if (!state.has(root)) enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.left.shift()
      if (next === undefined) {
        state.set(top.node, 'done')
        order.push(top.node)
        path.pop()
      } else if (state.get(next) === 'open') {
        const from = path.findIndex(({ node }) => node === next)
        cycles.push([...path.slice(from).map(({ node }) => node), next])
      } else if (!state.has(next)) enter(next)
    }
  }
  return { order, cycles }
}
