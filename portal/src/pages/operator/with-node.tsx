// A part that shows facts of the node; it says so where the agent does not answer.
import type { ReactNode } from 'react'
import { Loaded } from '#console/parts/page/loaded.tsx'
import type { NodeFacts } from './node.ts'
import { useNode } from './use-operator.ts'

export const WithNode = ({ children }: { readonly children: (facts: NodeFacts) => ReactNode }) => (
  <Loaded query={useNode()} what="the node">
    {({ facts }) =>
      facts === null ? (
        <div className="note bad" role="alert">
          <p>
            <b>The agent does not answer. </b>
            Nothing is known of the node now; requests are answered as before. Look at its log, or
            run <code>ergon status</code> on the machine.
          </p>
        </div>
      ) : (
        children(facts)
      )
    }
  </Loaded>
)
