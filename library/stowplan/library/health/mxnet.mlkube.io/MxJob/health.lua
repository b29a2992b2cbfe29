-- Health of an MxJob from what is reported of it. Argo CD runs this without the string and math libraries.
-- part: job_report
-- part: job_conditions
local phase = status.phase
local named = phase ~= nil and phase ~= ""
local over = phase == "Done" or phase == "Failed"
local failed = phase == "Failed" or (over and status.state == "Failed") or (not named and holds.Failed)
local done = (phase == "Done" and status.state == "Succeeded") or (not named and holds.Complete)
if failed then
  local why = holds.Failed
  if why == nil and status.reason ~= "" then
    why = status.reason
  end
  return { status = "Degraded", message = why or "The job failed" }
end
if done then
  return { status = "Healthy", message = "The job is done" }
end
-- part: job_stopped
local going = {
  Creating = "Pods are being created",
  Running = "The job is running",
  Done = "The job ended, and its result is not reported yet",
}
return { status = "Progressing", message = kept or (named and going[phase] or waiting) }
