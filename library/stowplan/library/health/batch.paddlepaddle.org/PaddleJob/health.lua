-- Health of a PaddleJob from what is reported of it. Argo CD runs this without the string and math libraries.
-- part: job_report
-- part: job_conditions
local phase = status.phase
if phase == nil or phase == "" then
  phase = (holds.Failed and "Failed") or (holds.Complete and "Completed")
end
local ended = {
  Completed = { "Healthy", "The job is done" },
  Succeed = { "Healthy", "The job is done" },
  Failed = { "Degraded", holds.Failed or "The job failed" },
  Aborted = { "Degraded", holds.Failed or "The job was aborted" },
  Terminated = { "Degraded", holds.Failed or "The job was ended before it was done" },
}
local going = {
  Pending = "Pods are waiting for nodes or images",
  Starting = "Pods are starting",
  Running = "The job is running",
  Scaling = "The job gets more or fewer workers",
  Restarting = "The job is starting again",
  Completing = "The job is being completed",
  Aborting = "The job is being aborted",
  Terminating = "The job is being ended",
}
local health = phase and ended[phase]
if health then
  return { status = health[1], message = health[2] }
end
-- part: job_stopped
return { status = "Progressing", message = kept or (phase and going[phase] or waiting) }
