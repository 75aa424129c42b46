/** The contract suite of each port, run against every adapter of it. */
export { describeMessagingContract, type MessagingContract } from "./messaging.ts"
