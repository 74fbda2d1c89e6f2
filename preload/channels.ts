// The two channels between the processes. In a file of their own, so that the preload, which needs nothing else at
// run time, stays a page of code without the schemas.

/** The page asks; the name of the call and its input are checked behind it. */
export const CALL_CHANNEL = 'astrolab:call';
/** The main process tells. */
export const EVENT_CHANNEL = 'astrolab:event';
