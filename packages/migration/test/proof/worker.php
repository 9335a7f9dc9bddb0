<?php
// A stock worker: php worker.php PORT FUNCTIONS. It writes a line for each job, and ends when none has come for 3 s.
$worker = new GearmanWorker();
$worker->addServer('127.0.0.1', (int) $argv[1]);
$worker->setTimeout(3000);
foreach (explode(',', $argv[2]) as $name) {
    $worker->addFunction($name, function (GearmanJob $job) {
        echo $job->functionName(), ' ', $job->unique(), ' ', sha1($job->workload()), "\n";
        return '';
    });
}
while (@$worker->work() || $worker->returnCode() === GEARMAN_IO_WAIT || $worker->returnCode() === GEARMAN_NO_JOBS) {
}
