/** Applications that a peer can host: their events are folded into a state, the same everywhere. */
export { counter, CounterEvent } from "./counter.ts"
export {
  registers,
  RegistersEvent,
  registersMax,
  RegistersOutput,
  RegistersState
} from "./registers.ts"
